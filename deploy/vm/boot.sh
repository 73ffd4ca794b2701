#!/usr/bin/env bash
# Boots the disk of build.sh, with four NICs behind an IOMMU whose other ends are taps of the
# network namespace that this is called in: igb, virtio, e1000e and vmxnet3. Software emulation,
# so any machine will do. In the foreground, until the machine powers off or this is ended.
#
#   unshare --net deploy/vm/boot.sh FOLDER
#
# Both CPUs are one thread's: with a thread each, QEMU 10 lost the end of an interrupt once in five runs (ISR of the local
# APIC stays set while the CPU idles), and that CPU gets none any more.
#
# Root. FOLDER has then: console.log; monitor, a socket of QEMU's monitor; key, for
# ssh -i FOLDER/key root@10.99.0.2.
set -euo pipefail
cd "$1"

# tap NAME MTU: queues of QEMU are queues of the tap.
args=()
tap() {
	local name=$1 mtu=$2
	shift 2
	ip link show "$name" >/dev/null 2>&1 || ip tuntap add "$name" mode tap "$@"
	sysctl -qw "net.ipv6.conf.$name.disable_ipv6=1"
	ip link set "$name" mtu "$mtu" up
	args+=(-netdev "tap,id=$name,ifname=$name,script=no,downscript=no${*:+,queues=2}")
}
# nic NAME BUS DEVICE: a NIC of its own IOMMU group.
nic() { args+=(-device "pcie-root-port,id=port$2,chassis=$2,addr=1$2" -device "$3,id=$1-nic,netdev=$1,bus=port$2,mac=52:54:00:00:0$2:01"); }
tap mgmt 1500
tap igb 9000
tap virtio 9000 multi_queue
tap e1000e 9000
tap vmxnet3 9000
ip addr replace 10.99.0.1/24 dev mgmt
nic igb 1 igb
nic virtio 2 virtio-net-pci,disable-legacy=on,iommu_platform=on,mq=on,vectors=8,rss=on,host_mtu=9000
nic e1000e 3 e1000e
nic vmxnet3 4 vmxnet3

export QEMU_MODULE_DIR=$PWD/qemu/usr/lib/x86_64-linux-gnu/qemu
exec nice -n 5 qemu/usr/bin/qemu-system-x86_64 \
	-L qemu/usr/share/qemu -L qemu/usr/share/seabios -L /usr/lib/ipxe/qemu \
	-name sink -machine q35,kernel-irqchip=split -accel tcg,thread=single -cpu max,-erms,-fsrm -smp 2 -m 3072 -display none \
	-device intel-iommu,intremap=on,caching-mode=on \
	-kernel vmlinuz -initrd initrd -append "root=/dev/vda console=ttyS0 oops=panic panic=-1 ${APPEND:-}" \
	-drive file=disk,format=raw,if=virtio,cache=unsafe,snapshot=on \
	-serial file:console.log -monitor unix:monitor,server,nowait -pidfile pid \
	-device virtio-net-pci,netdev=mgmt,mac=52:54:00:00:00:01,addr=3 "${args[@]}"
