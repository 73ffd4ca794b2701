# The appliance as an image, of Debian 13. docs/containers.md says what a container of it needs.
#
#   docker build --build-arg VERSION=$(scripts/version.sh) -t intsink .
#
#   VERSION      what the program calls itself; without a commit unless it is told
#   GOAMD64      v1 runs on every x86-64 processor; v3, for those with AVX2, is a little faster
#   BASE, SLIM   debian:12 and debian:12-slim make it of Debian 12. A tag moves: who wants the same
#                image tomorrow pins both, BASE=debian:13@sha256:..., by the digest that
#                `docker buildx imagetools inspect debian:13` prints
ARG BASE=debian:13
ARG SLIM=debian:13-slim

FROM ${BASE} AS build
ARG VERSION=
ARG GOAMD64=v1
WORKDIR /src
# Tools, then modules: both layers stay when only the sources change.
COPY scripts/deps.sh scripts/go.sh scripts/
COPY go.mod go.sum ./
RUN scripts/deps.sh build
RUN scripts/go.sh mod download
COPY . .
RUN make build ${VERSION:+VERSION=$VERSION} GOAMD64=$GOAMD64
# EAL, the ring mempool, both buses, the virtual devices, and the drivers of
# common NICs. EAL loads drivers from its plugin directory, so ldd shows none.
RUN scripts/dpdk-packages.sh eal ethdev mempool mempool-ring ring bus-pci bus-vdev \
      net-af-packet net-af-xdp net-bond net-failsafe net-memif net-null net-pcap net-ring net-tap net-vhost net-virtio \
      net-bnxt net-e1000 net-ena net-i40e net-iavf net-ice net-igc net-ixgbe net-mlx5 net-vmxnet3 >packages

FROM ${SLIM}
COPY --from=build /src/packages /usr/local/share/intsink/packages
# Its user's number is one that orchestrators which refuse root can check; the folder is for the
# socket, which also `--user 0` without further capabilities has to write to.
RUN apt-get update \
 && apt-get install -y --no-install-recommends $(cat /usr/local/share/intsink/packages) \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin intsink \
 && install -d -m 1777 /run/intsink
COPY --from=build /src/bin/intsink /usr/local/bin/intsink
# As systemd says it: where the socket is that health, reload, mode and others ask.
ENV RUNTIME_DIRECTORY=/run/intsink
# By number: orchestrators that refuse root cannot look a name up.
USER 10001
EXPOSE 9465
# Whether the process works, not whether it is ready: a cable that is pulled must not end what
# forwards by the others.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["intsink", "health"]
ENTRYPOINT ["intsink"]
CMD ["run", "--config", "/etc/intsink/intsink.hcl"]
