# Functions of fresh.sh, to be sourced: a minimal Debian in a folder, commands in
# it, and a reader of our own Dockerfile for machines without an image registry.

suite=bookworm

# settings: environment of commands in a root, one VAR=value per line: proxies,
# and where Go downloads from. Nothing else of ours gets in.
settings() {
	printf '%s\n' HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
	env | grep -E -i '^(https?|no|ftp|all)_proxy=' || true
	[[ -z "${SSL_CERT_FILE-}" ]] || echo SSL_CERT_FILE=/etc/ssl/host-certificates.crt
	local v go
	go=$(scripts/go.sh --find) || return 0
	for v in GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE; do
		printf '%s=%s\n' "$v" "$("$go" env "$v")"
	done | grep -v '=$'
}

# mirror: the first package archive that this machine's apt uses.
mirror() {
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1
}

# make_base ROOT: a minimal Debian with this machine's apt settings.
make_base() {
	local root=$1 uri
	uri=$(mirror)
	[[ -n "$uri" ]] || { echo "fresh: apt knows no archive with $suite; run apt-get update" >&2; return 1; }
	debootstrap --variant=minbase "$suite" "$root" "$uri" >"$root.log" 2>&1 || { tail -n 20 "$root.log"; return 1; }
	rm -f "$root/etc/apt/sources.list"
	cp -a /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || true
	cp -a /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list "$root/etc/apt/sources.list.d/" 2>/dev/null || true
	apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/00host" || true
	cp -aL /etc/resolv.conf /etc/hosts "$root/etc/"
	[[ -z "${SSL_CERT_FILE-}" ]] || install -D -m 644 "$SSL_CERT_FILE" "$root/etc/ssl/host-certificates.crt"
}

# copy_base BASE ROOT: a new root from BASE, with the kernel's file systems. It is a
# mount point, as a root is: ip netns changes how / propagates mounts.
copy_base() {
	mkdir -p "$2"
	mount --bind "$2" "$2"
	cp -a --reflink=auto "$1/." "$2/"
	mount -t proc proc "$2/proc"
	mount --rbind /sys "$2/sys"
	mount --rbind /dev "$2/dev"
	mount -t tmpfs tmpfs "$2/run"
}

# in_root ROOT WORKDIR COMMAND: runs COMMAND there by bash.
in_root() {
	local vars
	mapfile -t vars < <(settings)
	chroot "$1" env -i "${vars[@]}" "${image_env[@]}" bash -c "cd '$2' && $3"
}

image_env=()

# run_dockerfile CONTEXT BASE DIR: runs the instructions of CONTEXT/Dockerfile,
# each stage in a copy of BASE below DIR. Knows what our Dockerfile uses. Leaves
# the last stage in image_root and its USER in image_user.
run_dockerfile() {
	local context=$1 base=$2 dir=$3 word rest cwd=/ src dst from
	image_user=root
	while read -r word rest; do
		case $word in
		FROM)
			image_root=$dir/${rest##* }
			copy_base "$base" "$image_root"
			cwd=/ image_env=()
			;;
		ARG) image_env+=("$rest") ;;
		WORKDIR) cwd=$rest && mkdir -p "$image_root$cwd" ;;
		COPY)
			from=$context
			if [[ "$rest" == --from=* ]]; then
				from=${rest%% *} rest=${rest#* }
				from=$dir/${from#--from=}
			fi
			dst=${rest##* }
			[[ "$dst" == /* ]] || dst=$cwd/$dst
			for src in ${rest% *}; do
				# As docker does: of a folder, its contents.
				if [[ -d "$from/$src" ]]; then
					mkdir -p "$image_root$dst" && cp -a "$from/$src/." "$image_root$dst/"
				else
					cp -a "$from/$src" "$image_root$dst"
				fi
			done
			;;
		RUN) in_root "$image_root" "$cwd" "$rest" ;;
		USER) image_user=$(in_root "$image_root" / "getent passwd $rest" | cut -d: -f1) ;; # su takes names only
		ENTRYPOINT | CMD | HEALTHCHECK | EXPOSE) ;;
		*) echo "run_dockerfile: unknown instruction $word" >&2; return 1 ;;
		esac
	done < <(sed -e '/^ *#/d' -e '/^$/d' "$context/Dockerfile" | sed -e ':a' -e '/\\$/{N;s/\\\n *//;ta' -e '}')
}
