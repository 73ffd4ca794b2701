# Functions of fresh.sh and trixie.sh, to be sourced: a minimal Debian in a folder, commands in
# it, and a reader of our own Dockerfile for machines without an image registry.

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

# here: the name of the Debian that this machine has: bookworm.
here() { (source /etc/os-release && echo "$VERSION_CODENAME"); }

# mirror: the first package archive that this machine's apt uses.
mirror() {
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $(here)" | head -n 1
}

# make_base ROOT SUITE: a minimal Debian with this machine's apt settings, where they are for
# this machine's Debian: of what others make there may be none for SUITE.
make_base() {
	local root=$1 suite=$2 uri from=() name
	name=$(here) uri=$(mirror)
	[[ -n "$uri" ]] || { echo "apt knows no archive with $name: run apt-get update" >&2; return 1; }
	type -P debootstrap >/dev/null || apt-get -qq install -y --no-install-recommends debootstrap >/dev/null
	debootstrap --variant=minbase "$suite" "$root" "$uri" >"$root.log" 2>&1 ||
		debootstrap --variant=minbase "$suite" "$root" "$uri" >"$root.log" 2>&1 || # what was fetched is kept
		{ tail -n 20 "$root.log"; return 1; }
	rm -f "$root/etc/apt/sources.list"
	mapfile -t from < <(grep -lsE "(^|\s)$name" /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list)
	for uri in "${from[@]}"; do
		sed -E "s/(^|\s)$name/\1$suite/g" "$uri" >"$root$uri"
	done
	{ echo 'Acquire::Retries "3";'; apt-config dump | grep '^Acquire::' || true; } >"$root/etc/apt/apt.conf.d/00host"
	[[ -z "${SSL_CERT_FILE-}" ]] || install -D -m 644 "$SSL_CERT_FILE" "$root/etc/ssl/host-certificates.crt"
	resolve "$root"
}

# resolve ROOT: names are resolved there as here.
resolve() { cp -L /etc/resolv.conf /etc/hosts "$1/etc/"; }

# enter ROOT: the kernel's file systems there. It is a mount point, as a root is: ip netns
# changes how / propagates mounts.
enter() {
	mount --bind "$1" "$1"
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount --rbind /dev "$1/dev"
	mount -t tmpfs tmpfs "$1/run"
}

# copy_base BASE ROOT: a new root from BASE.
copy_base() {
	mkdir -p "$2"
	cp -a --reflink=auto "$1/." "$2/"
	enter "$2"
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
			image_root=$dir/${rest##*[ {]} # AS build, or ${SLIM}
			copy_base "$base" "$image_root"
			cwd=/ image_env=()
			;;
		ARG) image_env+=("$rest") ;;
		ENV) image_env+=("$rest") ;;
		WORKDIR) cwd=$rest && mkdir -p "$image_root$cwd" ;;
		COPY)
			from=$context
			if [[ "$rest" == --from=* ]]; then
				from=${rest%% *} rest=${rest#* }
				from=$dir/${from#--from=}
			fi
			dst=${rest##* }
			[[ "$dst" == /* ]] || dst=$cwd/$dst
			[[ "$dst" == */ ]] && mkdir -p "$image_root$dst" || mkdir -p "$image_root$(dirname "$dst")"
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
