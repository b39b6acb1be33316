# syntax=docker/dockerfile:1
ARG VERSION=3.12

# Builds the wheels.
FROM python:${VERSION} AS build
WORKDIR /src
COPY requirements.txt .
RUN pip wheel \
      --requirement requirements.txt \
      --wheel-dir /wheels

FROM python:3.12-slim
ENV PORT=8080 \
    DEBUG=0
COPY --from=build /wheels /wheels
RUN <<EOF
pip install /wheels/*
EOF
EXPOSE 8080
CMD ["python", "-m", "app"]
