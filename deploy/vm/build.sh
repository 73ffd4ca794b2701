#!/usr/bin/env bash
# Makes a disk with Debian 12 for a sink under test, with systemd, sshd and the Debian packages
# of this project beside, not installed; and takes QEMU 10 of backports, as 7.2 has no igb.
#
#   deploy/vm/build.sh FOLDER DEB...
#
# Root. What was made is kept in FOLDER; the disk alone is made anew each time: half a minute.
set -euo pipefail
root_of_project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root_of_project"
source scripts/chroot.sh
vm=$1
shift
mkdir -p "$vm"

say() { printf 'vm: %s (%d s)\n' "$*" "$SECONDS"; }

# QEMU of backports, unpacked beside the system's, whose libraries it uses.
if [[ ! -x "$vm/qemu/usr/bin/qemu-system-x86_64" ]]; then
	say "QEMU of backports"
	apt=$vm/apt
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) bookworm-backports main" >"$apt/list"
	options=(-qq -o "Dir::Etc::sourcelist=$apt/list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache")
	apt-get "${options[@]}" update
	(cd "$apt/debs" && apt-get "${options[@]}" download qemu-system-x86 qemu-system-common qemu-system-data seabios)
	for deb in "$apt"/debs/*.deb; do dpkg-deb -x "$deb" "$vm/qemu.new"; done
	mv "$vm/qemu.new" "$vm/qemu"
fi

# The system. Its packages are what a server has that is to run DPDK.
if [[ ! -e "$vm/root/root/made" ]]; then
	say "Debian 12"
	rm -rf --one-file-system "$vm/root"
	make_base "$vm/root" bookworm
	mkdir -p "$vm/root/root/.ssh" "$vm/root/root/debs"
	rm -f "$vm/key" && ssh-keygen -q -t ed25519 -N '' -f "$vm/key" && cp "$vm/key.pub" "$vm/root/root/.ssh/authorized_keys"
	in_root "$vm/root" / "apt-get -qq update && apt-get -qq -y install --no-install-recommends systemd systemd-sysv udev dbus \
		libpam-systemd linux-image-amd64 initramfs-tools openssh-server iproute2 iputils-ping pciutils ethtool tcpdump kmod procps psmisc \
		dpdk driverctl python3 curl jq irqbalance chrony >/dev/null && apt-get clean"
	cat >"$vm/root/etc/systemd/network/mgmt.network" <<-'NETWORK'
		[Match]
		MACAddress=52:54:00:00:00:01
		[Network]
		Address=10.99.0.2/24
	NETWORK
	echo sink >"$vm/root/etc/hostname"
	echo '/dev/vda / ext4 defaults 0 1' >"$vm/root/etc/fstab"
	in_root "$vm/root" / "systemctl enable -q systemd-networkd serial-getty@ttyS0"
	rm -f "$vm"/root/etc/ssh/ssh_host_* && in_root "$vm/root" / "ssh-keygen -q -A"
	# Of the modules those that the disk needs: unpacking all takes longer than the rest of a boot.
	sed -i 's/^MODULES=.*/MODULES=list/' "$vm/root/etc/initramfs-tools/initramfs.conf"
	printf 'virtio_pci\nvirtio_blk\next4\n' >"$vm/root/etc/initramfs-tools/modules"
	in_root "$vm/root" / "update-initramfs -u"
	touch "$vm/root/root/made"
fi

# The packages, and what they need in apt's cache: the machine has no network.
say "packages"
rm -rf "$vm/root/root/debs" && mkdir "$vm/root/root/debs" && cp -- "$@" "$vm/root/root/debs/"
resolve "$vm/root"
in_root "$vm/root" /root/debs "apt-get -qq -y install -d --no-install-recommends ./*.deb >/dev/null"
printf '127.0.0.1 localhost sink\n' >"$vm/root/etc/hosts"
: >"$vm/root/etc/resolv.conf"

say "disk"
rm -f "$vm/disk" && truncate -s 6G "$vm/disk"
mke2fs -q -t ext4 -d "$vm/root" "$vm/disk"
cp "$vm"/root/boot/vmlinuz-* "$vm/vmlinuz" && cp "$vm"/root/boot/initrd.img-* "$vm/initrd"
say "made"
