# One image for all servers; SERVER selects one. The base is Node's image: node needs libatomic, bun needs no library.
# With --target bench, an image of the benchmark and its servers, for machines without Linux.
ARG NODE_VERSION=26.10.0
ARG BUN_VERSION=1.4.5
ARG FORTIO_VERSION=1.68.2
FROM oven/bun:${BUN_VERSION}-slim AS bun
FROM fortio/fortio:${FORTIO_VERSION} AS fortio

FROM node:${NODE_VERSION}-bookworm-slim AS base
COPY --from=bun /usr/local/bin/bun /usr/local/bin/bun
WORKDIR /app

# The root's optional packages are Node itself, which the base image already has.
FROM base AS packages
COPY package.json bun.lockb bunfig.toml ./
COPY bench/package.json bench/
RUN bun install --frozen-lockfile --production --omit=optional --filter simple-http-server-benchmark

FROM packages AS bench-packages
RUN bun install --frozen-lockfile --production --filter bench

FROM packages AS database
COPY createdb.ts ./
COPY shared shared
RUN bun createdb.ts

FROM base AS bench
RUN install --directory --owner=node /results && ln -s /app/bench/docker.sh /usr/local/bin/bench
COPY --from=fortio /usr/bin/fortio /usr/local/bin/fortio
COPY --from=bench-packages /app/node_modules node_modules
COPY --from=database /app/data.db ./
COPY package.json ./
COPY shared shared
COPY servers servers
COPY stacks/stacks.json stacks/
COPY bench bench
COPY bench.sh ./
LABEL org.opencontainers.image.title="simple-http-server-benchmark with its benchmark"
# The process drops root: see bench/docker.sh.
ENV RESULTS=/results/results.csv
WORKDIR /results
CMD ["bench", "help"]

FROM base
# Content items are stored in /contents. Without a volume they are deleted with the container.
RUN install --directory --owner=node /contents
COPY --from=packages /app/node_modules node_modules
COPY --from=database /app/data.db ./
COPY package.json ./
COPY shared shared
COPY servers servers
LABEL org.opencontainers.image.title="simple-http-server-benchmark" \
      org.opencontainers.image.description="Ten HTTP servers on Node and Bun that do equal work, and their data" \
      org.opencontainers.image.version="0.9.0" \
      org.opencontainers.image.licenses="MIT"
USER node
ENV PORT=3000 CONTENT_FILE=/contents/content.db
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=3s \
  CMD ["bun", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["sh", "servers/start.sh"]
