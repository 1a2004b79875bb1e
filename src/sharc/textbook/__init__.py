"""The paper in plain PyTorch, one seed at a time: read this first.

    methods.py    the strategies, each a loss or a gradient (Eqs. 1 and 2)
    sharc.py      saliency and mask (Eqs. 3 and 4), the episodic memory, Algorithm 1
    bayes_pcn.py  the associative memory of the paper's experiments (Eqs. 5 to 7)
    hopfield.py   the one of its comparison: attention over stored maps (Eq. 10)
    __main__.py   one run on handwritten digits; docs/method.md walks through its output

Nothing here is fast and everything is used: the tests hold the rest of the package to these
files, and `make bench` measures how much faster the rest is. Only the data (`TaskStream`) and the
random draws come from the rest, so that both train the same run.
"""
