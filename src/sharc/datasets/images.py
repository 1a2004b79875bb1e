"""Image files decoded to arrays, refused where they are not what the data set holds."""

import io

import numpy as np
from PIL import Image

from sharc.artifacts.arrays import Array
from sharc.errors import UserError


def decoded(content: bytes, name: str, *, grey_is_rgb: bool = False) -> Array:
    """uint8 (H, W, 3) of an image file; greyscale only where the data set is known to have it."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.mode != "RGB" and not (image.mode == "L" and grey_is_rgb):
                raise UserError(f"image {name} is not RGB but {image.mode}")
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UserError(f"image {name} does not decode: {error}") from None


def sized(content: bytes, name: str, side: int, *, grey_is_rgb: bool = False) -> Array:
    """A decoded image of exactly `side` × `side` pixels."""
    image = decoded(content, name, grey_is_rgb=grey_is_rgb)
    if image.shape != (side, side, 3):
        height, width = image.shape[:2]
        raise UserError(f"image {name} is {width}×{height} pixels, not {side}×{side}")
    return image


def sheet(content: bytes, name: str, side: int) -> Array:
    """uint8 (n, side, side, 3) from a sheet that holds one image after another."""
    pixels = decoded(content, name)
    if pixels.size % (side * side * 3):
        raise UserError(f"sheet {name} does not hold whole images of {side}×{side} pixels")
    return pixels.reshape(-1, side, side, 3)
