"""The paper's motivating figure: recall of stored images against inpainting."""
