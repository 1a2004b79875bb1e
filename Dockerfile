# The demo suite in a container, on the CPU:
#   docker build -t sharc . && docker run --name demo sharc && docker cp demo:/sharc/outputs .
FROM python:3.11-slim-bookworm

# The archive of a Debian release keeps only the newest version of a package: a pin would break.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git make nodejs npm \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 sharc && install -d -o sharc /sharc
USER 1000
WORKDIR /sharc

# First the packages, whose layer stays as long as the lock does.
COPY --chown=sharc requirements*.lock ./
RUN python -m venv .venv \
    && .venv/bin/python -m pip install --no-cache-dir --no-deps --require-hashes \
       -r requirements-cpu.lock

# Then the project, with its history: provenance names the commit.
COPY --chown=sharc . .
RUN make env

ENV PATH="/sharc/.venv/bin:$PATH"
CMD ["make", "run"]
