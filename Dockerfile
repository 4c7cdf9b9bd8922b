# A small image that runs as nobody in particular, and writes to /data alone:
#   docker build -t modelpicker .
#   docker run --rm --read-only --tmpfs /tmp -v modelpicker:/data modelpicker tokens create me --role owner
#   docker run --read-only --tmpfs /tmp -v modelpicker:/data -p 8000:8000 modelpicker
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE requirements.lock ./
COPY src src
# The lock also holds what only the tests need: it says which versions, not which packages.
RUN sed -e '/--hash=/d' -e 's/ *\\$//' requirements.lock > versions.txt \
 && python -m venv /app \
 && /app/bin/pip install --no-cache-dir --constraint versions.txt '.[server,postgresql]' \
 && /app/bin/pip uninstall --yes pip \
 && find /app -type d '(' -name __pycache__ -o -name tests -o -name include ')' -prune -exec rm -rf {} + \
 && /app/bin/python -m compileall -q /app/lib

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /data modelpicker && install -d -o modelpicker /data
COPY --from=build /app /app
USER modelpicker
WORKDIR /data
VOLUME /data
ENV PATH=/app/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    MODELPICKER_STORAGE=sqlite:////data/modelpicker.db \
    MODELPICKER_HOST=0.0.0.0 \
    MODELPICKER_PORT=8000 \
    MODELPICKER_LOG_FORMAT=json
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["modelpicker"]
CMD ["serve"]
