//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// What lookup_go.go says in Go: read it first. All eight tags of a bucket are
// compared at once, and lines are prefetched, which no load in Go can do without waiting
// for them: 31 instructions of a packet where Go takes 78 (bench/instructions). AVX2, and TZCNT, which is older.
//
// SAFETY: buckets and flows are as many as mask and the slots of a bucket tell; hashes,
// keys and out are as long as their callers in lookup.go make them. Flows are out of the
// Go heap, so that no write barrier is missed.

// func prefetchAVX2(t *Table, hashes []uint64)
TEXT ·prefetchAVX2(SB), NOSPLIT, $0-32
	MOVQ t+0(FP), SI
	MOVQ hashes_base+8(FP), R9
	MOVQ hashes_len+16(FP), R10
	MOVQ Table_mask(SI), R12
	MOVQ Table_buckets(SI), R13
	SHLQ $const_bucketShift, R12
	LEAQ (R9)(R10*8), R9
	NEGQ R10 // R9 is the end, R10 counts up to zero
	JEQ  done

next:
	MOVQ (R9)(R10*8), DX
	ANDQ R12, DX
	PREFETCHT0 (R13)(DX*1)
	INCQ R10
	JNE  next

done:
	RET

// func findByTagAVX2(t *Table, hashes []uint64, out []*Flow)
TEXT ·findByTagAVX2(SB), NOSPLIT, $0-56
	MOVQ t+0(FP), SI
	MOVQ hashes_base+8(FP), R9
	MOVQ hashes_len+16(FP), R10
	MOVQ out_base+32(FP), R11
	MOVQ Table_mask(SI), R12
	MOVQ Table_buckets(SI), R13
	MOVQ Table_flows(SI), DI
	VPCMPEQW X3, X3, X3
	VPSRLW   $15, X3, X3 // 1 in each lane, for tagOf
	SHLQ $const_bucketShift, R12
	LEAQ (R9)(R10*8), R9
	LEAQ (R11)(R10*8), R11
	NEGQ R10 // R9 and R11 are ends, R10 counts up to zero
	JEQ  done

next:
	VPBROADCASTW 6(R9)(R10*8), X0
	MOVQ (R9)(R10*8), DX
	VPOR X3, X0, X0
	ANDQ R12, DX
	VPCMPEQW  bucket_tags(R13)(DX*1), X0, X0
	VPMOVMSKB X0, AX
	ADDQ   R13, DX
	MOVQ   DI, BX
	TESTL  AX, AX
	JEQ    none
	TZCNTL AX, AX // twice the slot
	MOVL bucket_flows(DX)(AX*2), BX
	LEAQ (BX)(BX*4), BX
	SHLQ $const_lineShift, BX
	ADDQ DI, BX
	PREFETCHT0 0(BX)
	PREFETCHT0 64(BX)

none:
	MOVQ BX, (R11)(R10*8)
	INCQ R10
	JNE  next

done:
	RET

// func confirmAVX2(now int64, keys []Key, out []*Flow, from int) (next int)
TEXT ·confirmAVX2(SB), NOSPLIT, $0-72
	MOVQ now+0(FP), R8
	MOVQ keys_base+8(FP), R9
	MOVQ keys_len+16(FP), R10
	MOVQ out_base+32(FP), R11
	MOVQ from+56(FP), CX
	IMUL3Q $Key__size, CX, AX
	ADDQ AX, R9
	LEAQ (R11)(R10*8), R11
	SUBQ R10, CX // R11 is the end, CX counts up to zero
	JGE  end

key:
	MOVQ (R11)(CX*8), BX
	VMOVDQU (R9), X0 // portsProto and the first word of addrs
	VPXOR   Flow_Key(BX), X0, X0
	VPTEST  X0, X0
	JNE  end
	CMPB Key_portsProto(R9), $4
	JNE  wide

same:
	MOVQ R8, Flow_seen(BX)
	ADDQ $Key__size, R9
	INCQ CX
	JNE  key

end:
	ADDQ R10, CX
	MOVQ CX, next+64(FP)
	RET

wide:
	MOVQ (Key_addrs+8)(R9), DX
	CMPQ DX, (Flow_Key+Key_addrs+8)(BX)
	JNE  end
	VMOVDQU (Key_addrs+16)(R9), X0
	VPXOR   (Flow_Key+Key_addrs+16)(BX), X0, X0
	VPTEST  X0, X0
	JEQ  same
	JMP  end
