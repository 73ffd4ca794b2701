#!/usr/bin/env bash
# fuzz_fast.sh SECONDS: fuzzes the C of engine/fast with libFuzzer, AddressSanitizer and
# UBSan, as it is compiled for this processor and without its vector instructions, each with
# what a worker knows of packets by every marking. A crash leaves its input in bin/fuzz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:?usage: fuzz_fast.sh SECONDS}

dir=bin/fuzz
rm -rf "$dir/state"
mkdir -p "$dir/state"
FAST_FUZZ_DIR="$PWD/$dir/state" scripts/go.sh test -count=1 -run '^TestFuzzState$' ./engine/fast >/dev/null
flags=(-g -O1 -std=c11 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -fno-sanitize=alignment)
[[ $(uname -m) == x86_64 ]] && flags+=(-mavx2 -mbmi -mbmi2 -mmovbe)
sources=(engine/fast/match.c engine/fast/pass.c engine/fast/poll.c engine/fast/fuzz/fuzz.c)
clang "${flags[@]}" -o "$dir/fast" "${sources[@]}"
clang "${flags[@]}" -DFAST_PORTABLE -o "$dir/portable" "${sources[@]}"

for program in fast portable; do
	for state in "$dir"/state/*; do
		echo "fuzz engine/fast $program, marking ${state##*/}, $seconds s"
		log=$dir/$program-${state##*/}.log
		FAST_STATE=$state "$dir/$program" -max_total_time="$seconds" -max_len=8192 -artifact_prefix="$dir/" -print_final_stats=0 "$state/corpus" >"$log" 2>&1 ||
			{ tail -40 "$log"; exit 1; }
	done
done
