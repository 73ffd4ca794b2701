# The appliance as an image. Build: docker build --build-arg VERSION=1.0 -t intsink .
#
# It runs as user intsink. What the container needs depends on its ports:
#   PCI device bound to vfio-pci, IOMMU on: no capability;
#     --device /dev/vfio/vfio --device /dev/vfio/GROUP (readable by user intsink)
#     -v /dev/hugepages:/dev/hugepages --ulimit memlock=-1
#   kernel interfaces, net_tap: CAP_NET_RAW and CAP_NET_ADMIN, which only root gets:
#     --user 0 --cap-drop ALL --cap-add NET_RAW --cap-add NET_ADMIN --network host
#   no IOMMU (vfio no-iommu mode, physical addresses): CAP_SYS_ADMIN, CAP_SYS_RAWIO
#     and CAP_IPC_LOCK as root. Prefer an IOMMU.
# Configuration: -v /path/intsink.hcl:/etc/intsink/intsink.hcl:ro
# Other commands: docker run intsink check --config /etc/intsink/intsink.hcl

FROM debian:12 AS build
ARG VERSION=dev
ARG GOAMD64=v3
WORKDIR /src
# Tools first: this layer stays when only the sources change.
COPY go.mod go.sum ./
COPY scripts ./scripts
RUN scripts/deps.sh
COPY . .
RUN make build VERSION=$VERSION GOAMD64=$GOAMD64

FROM debian:12-slim
# EAL, the ring mempool, both buses, the virtual devices, and the drivers of
# common NICs. EAL loads drivers from its plugin directory, so ldd shows none.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      librte-eal23 librte-ethdev23 librte-mempool23 librte-mempool-ring23 librte-ring23 \
      librte-bus-pci23 librte-bus-vdev23 \
      librte-net-af-packet23 librte-net-memif23 librte-net-null23 librte-net-pcap23 \
      librte-net-ring23 librte-net-tap23 librte-net-vhost23 librte-net-virtio23 \
      librte-net-bnxt23 librte-net-e1000-23 librte-net-ena23 librte-net-i40e23 \
      librte-net-iavf23 librte-net-ice23 librte-net-ixgbe23 librte-net-mlx5-23 \
      librte-net-vmxnet3-23 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin intsink
COPY --from=build /src/bin/intsink /usr/local/bin/intsink
# By number: orchestrators that refuse root cannot look a name up.
USER 10001
EXPOSE 9465
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["intsink", "status", "--config", "/etc/intsink/intsink.hcl"]
ENTRYPOINT ["intsink"]
CMD ["run", "--config", "/etc/intsink/intsink.hcl"]
