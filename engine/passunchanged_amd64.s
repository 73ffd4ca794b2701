//go:build !purego

#include "textflag.h"
#include "funcdata.h"
#include "go_asm.h"

// What passUnchangedGo and stripUDPv4Go say in Go, for runs of packets: read these first. Together 155
// instructions of a packet of the reference input, where Go takes 503 (bench/instructions):
// what is needed stays in registers, that of the flow's watch from packet to packet, all that
// is asked of a hop is compared at once, and sums keep their carry. AVX2 and BMI2.
//
// SAFETY: Info comes from HeaderCache.Lookup, Locator.Match or Find: INT ends within the frame's
// first segment, its hops within INT. Locator.Classify says Common only where there are hops
// of 12 bytes at least; four bytes before the first one are read. Flows come from the table,
// their WayHops, at most MaxHops, from learnWay; four bytes behind Hops are read. The one pointer that is stored points
// into the burst that it is stored in: no write barrier is missed.
//
// SI state, DI burst, CX place, R8 info, R9 flow, R10 policy, R11 mbuf, R12 frame.

// func passUnchangedAVX2(q *passState, b *burst, from int) (next int)
TEXT ·passUnchangedAVX2(SB), NOSPLIT, $16-32
	NO_LOCAL_POINTERS
	MOVQ q+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ from+16(FP), CX
	CMPQ CX, burst_nINT(DI)
	JGE  done
	CMPQ passState_policies+8(SI), $0
	JEQ  done
	MOVQ passState_policies(SI), R10
	VMOVDQU hopOrder<>(SB), X7
	XORL DX, DX
	XORL R9, R9
	JMP  enter

packet:
	MOVQ    burst_header(DI)(CX*8), R8
	CMPB    asmInfo_Common(R8), $0
	JEQ     done
	MOVQ    burst_flow(DI)(CX*8), R9
	TESTQ   R9, R9
	JEQ     done

	// The flow: of these rules, nothing pending, no refresh due, known hops.
	MOVL  state-16(SP), DX
	XORL  asmFlow_Generation(R9), DX
	TESTL DX, mask-12(SP)
	JNE   other

policy: // R10 is that of the flow's watch
	MOVL passState_refresh(SI), DX
	SUBL asmFlow_NextRefresh(R9), DX
	JPL  done
	MOVWLZX asmInfo_Hops(R8), DX
	CMPB asmFlow_PathHops(R9), DX
	JNE  done

	MOVBLZX burst_places(DI)(CX*1), BX
	MOVQ    burst_vec(DI), R11
	MOVQ    (R11)(BX*8), R11
	MOVWLZX asmMbuf_dataOff(R11), R12
	ADDQ    asmMbuf_bufAddr(R11), R12

	// Hops: AX at, BX behind those known, DX counts up to zero, X3 the worst differences, X5
	// the sum of latencies. Before the first hop there are headers: four bytes of them are read.
	MOVWLZX asmInfo_Stack(R8), AX
	MOVWLZX asmInfo_HopLen(R8), R15
	LEAQ  (DX)(DX*2), DX
	ADDQ  R12, AX
	SHLQ  $2, DX
	VPXOR X3, X3, X3
	VPXOR X5, X5, X5
	LEAQ  asmFlow_Hops(R9)(DX*1), BX
	NEGQ  DX

hop:
	VMOVDQU -4(AX), X0
	VPSHUFB X7, X0, X0
	ADDQ    R15, AX
	VPADDQ  X0, X5, X5
	VPSUBD  (BX)(DX*1), X0, X0
	VPADDD  X6, X0, X0
	VPMAXUD X0, X3, X3
	ADDQ    $asmHop__size, DX
	JNE     hop

	VPMAXUD X9, X3, X3
	VPXOR   X9, X3, X3
	VPTEST  X3, X3
	JNE  done
	VPEXTRQ $1, X5, R13
	MOVL asmFlow_EndRef(R9), AX
	SUBQ AX, R13
	ADDQ asmFastPolicy_End(R10), R13
	CMPQ R13, asmFastPolicy_EndTwice(R10)
	JHI  done
	CMPB asmFastPolicy_WatchesFabric(R10), $0
	JNE  fabric

quiet: // AX bytes go, now or later, of IP's R15; R13 is the size then
	CMPB asmInfo_UDPv4(R8), $0
	JEQ  general
	MOVWLZX asmInfo_Removed(R8), AX
	MOVWLZX 16(R12), R15
	ROLW $8, R15
	LEAL 14(R15), R13
	SUBL AX, R13

count: // if there is room in the totals
	MOVL asmFlow_packets(R9), BX
	MOVL passState_tick(SI), DX
	ADDL asmFlow_bytes(R9), R13
	JCS  done
	INCL BX
	JEQ  done
	MOVL R13, asmFlow_bytes(R9)
	MOVL BX, asmFlow_packets(R9)
	MOVL DX, asmFlow_PathSeen(R9)
	DECL asmFastPolicy_SampleLeft(R10)
	JEQ  sample

shorten:
	TESTL AX, AX
	JEQ  keep
	CALL strip<>(SB)

next:
	INCQ CX
	CMPQ CX, burst_nINT(DI)
	JLT  packet
	JMP  done

other: // of another watch than the packet before, or not settled
	MOVBLZX asmFlow_Watch(R9), DX
	CMPQ   DX, passState_policies+8(SI)
	JAE    done
	IMUL3Q $asmFastPolicy__size, DX, R10
	ADDQ   passState_policies(SI), R10

enter: // what state and mask are by the policy R10 of watch DX
	SHLL    $16, DX
	ORL     passState_generation(SI), DX
	MOVBLZX asmFastPolicy_Flags(R10), BX
	SHLL    $24, BX
	ORL     BX, DX
	MOVL    DX, state-16(SP)
	MOVBLZX asmFastPolicy_Mask(R10), BX
	SHLL    $24, BX
	ORL     $0xffffff, BX
	MOVL    BX, mask-12(SP)

	// How far a hop may be from what is known: X6 is added to the difference, X9 must not be
	// exceeded. What is right of the latency does not count.
	VMOVD   asmFastPolicy_Absolute(R10), X6
	VMOVD   asmFastPolicy_Twice(R10), X9
	VPSLLDQ $8, X6, X6
	VPSLLDQ $8, X9, X9
	VPOR    hopRest<>(SB), X9, X9
	TESTQ   R9, R9
	JEQ     packet
	XORL    asmFlow_Generation(R9), DX
	TESTL   BX, DX
	JEQ     policy
	JMP     done

fabric: // event.FastPolicy.BelowThresholds: AX at, R9 hops left, DX and BX offsets
	CMPB passState_noEpisode(SI), $0
	JEQ  done
	MOVWLZX asmInfo_Stack(R8), AX
	ADDQ    R12, AX
	MOVWLZX asmInfo_Hops(R8), R9
	MOVBLZX asmInfo_QueueAt(R8), DX
	MOVBLZX asmInfo_TxAt(R8), BX

thing:
	MOVL   8(AX), R13
	BSWAPL R13
	CMPL   R13, asmFastPolicy_Latency(R10)
	JCS    queue
	CMPL   R13, $-1
	JNE    done

queue:
	TESTL  DX, DX
	JEQ    tx
	MOVL   (AX)(DX*1), R13
	BSWAPL R13
	MOVL   R13, R14
	ANDL   $0xffffff, R14
	CMPL   R14, asmFastPolicy_Raise(R10)
	JCS    tx
	CMPL   R13, $-1
	JNE    done

tx:
	TESTL  BX, BX
	JEQ    passed
	MOVL   (AX)(BX*1), R13
	BSWAPL R13
	CMPL   R13, asmFastPolicy_Tx(R10)
	JCS    passed
	CMPL   R13, $-1
	JNE    done

passed:
	ADDQ R15, AX
	DECL R9
	JNE  thing
	MOVQ burst_flow(DI)(CX*8), R9
	JMP  quiet

general: // not UDPv4: AX zero
	XORL AX, AX
	MOVWLZX asmInfo_Size(R8), R13
	JMP  count

keep:
	MOVQ burst_nDeferred(DI), BX
	MOVB CX, burst_deferred(DI)(BX*1)
	INCQ burst_nDeferred(DI)
	JMP  next

sample: // if any are taken
	MOVL asmFastPolicy_SampleEvery(R10), DX
	MOVL DX, asmFastPolicy_SampleLeft(R10)
	TESTL DX, DX
	JEQ  shorten
	MOVL $1, BX
	SHLQ CX, BX
	ORQ  BX, passState_samples(SI)
	TESTQ BX, burst_completed(DI)
	JNE  next

	// burst.copyHeader.
	ORQ  BX, burst_completed(DI)
	MOVBLZX burst_places(DI)(CX*1), BX
	IMUL3Q $asmInfo__size, BX, BX
	LEAQ burst_info(DI)(BX*1), BX
	MOVQ BX, burst_header(DI)(CX*8)
	VMOVDQU 0(R8), X0
	VMOVDQU 16(R8), X1
	VMOVDQU (asmInfo__size-16)(R8), X2
	VMOVDQU X0, 0(BX)
	VMOVDQU X1, 16(BX)
	VMOVDQU X2, (asmInfo__size-16)(BX)
	MOVWLZX 44(R12), DX
	LEAL 14(R15), R13
	ROLW $8, DX
	SUBL AX, R13
	MOVW DX, asmInfo_Orig(BX)
	MOVW R13, asmInfo_Size(BX)
	MOVBLZX 15(R12), DX
	MOVBLZX 49(R12), R13
	SHRL $2, DX
	MOVB R13, asmInfo_RemainingHops(BX)
	MOVB DX, asmInfo_DSCP(BX)
	JMP  next

done:
	VZEROUPPER
	MOVQ CX, next+24(FP)
	RET

// func stripUDPv4AVX2(b *burst, from int) (next int)
TEXT ·stripUDPv4AVX2(SB), NOSPLIT, $0-24
	NO_LOCAL_POINTERS
	MOVQ b+0(FP), DI
	MOVQ from+8(FP), CX

packet:
	CMPQ CX, burst_nDeferred(DI)
	JGE  done
	MOVBLZX burst_deferred(DI)(CX*1), BX
	MOVQ    burst_header(DI)(BX*8), R8
	MOVBLZX burst_places(DI)(BX*1), BX
	CMPB    asmInfo_UDPv4(R8), $0
	JEQ     done
	CMPB    asmInfo_Discard(R8), $0
	JNE     done
	MOVQ    burst_vec(DI), R11
	MOVQ    (R11)(BX*8), R11
	MOVWLZX asmMbuf_dataOff(R11), R12
	ADDQ    asmMbuf_bufAddr(R11), R12
	MOVWLZX asmInfo_Removed(R8), AX
	MOVWLZX 16(R12), R15
	ROLW    $8, R15
	CALL    strip<>(SB)
	INCQ    CX
	JMP     packet

done:
	VZEROUPPER
	MOVQ CX, next+16(FP)
	RET

// strip.UDPv4 of the frame R12 in mbuf R11: AX bytes go, of IP's R15. SI, DI, CX, R10,
// R11 and R12 stay.
TEXT strip<>(SB), NOSPLIT|NOFRAME, $0
	// R9 is AX in the order of the packet, R13 UDP's checksum, BX the frame's new start.
	MOVWLZX 40(R12), R13
	MOVL AX, R9
	ROLW $8, R9
	LEAQ (R12)(AX*1), BX
	TESTL R13, R13
	JEQ  none

	// What goes is added to the checksum of UDP: the port, twice the shrink, and INT, without
	// the original port, which stands in bytes 2 and 3 of the shim and does not go. INT is
	// words of 8 bytes, or these behind the shim.
	MOVWLZX 36(R12), R8
	LEAL (R13)(R9*2), R13
	ADDL R8, R13
	TESTB $4, AX
	JEQ   whole
	MOVWLZX 42(R12), R8
	ADDL R8, R13

sum:
	CMPL AX, $(const_sumWords*8+4)
	JHI  long
	MOVL AX, R14
	SHRL $1, R14
	ANDL $-4, R14
	LEAQ sums<>+(const_sumWords*const_sumBytes)(SB), R8
	SUBQ R14, R8 // no carry
	JMP  R8

whole:
	MOVWLZX 44(R12), R8
	XORL $0xffff, R8
	ADDL R8, R13
	JMP  sum

none: // stays as it is
	LEAQ sums<>+(const_sumWords*const_sumBytes)(SB), R8
	CLC
	JMP  R8

long: // those words of which there are too many
	MOVL AX, R14
	ANDL $-8, R14
	NEGQ R14

word:
	ADDQ 42(BX)(R14*1), R13
	ADCQ $0, R13
	ADDQ $8, R14
	CMPQ R14, $(-8*const_sumWords)
	JNE  word
	CLC
	JMP  sums<>(SB)

// Adds the words of INT that end at 42(BX): so many as are behind the place that strip
// jumps to. Each addition is of sumBytes bytes.
TEXT sums<>(SB), NOSPLIT|NOFRAME, $0
	ADCQ -126(BX), R13
	ADCQ -118(BX), R13
	ADCQ -110(BX), R13
	ADCQ -102(BX), R13
	ADCQ -94(BX), R13
	ADCQ -86(BX), R13
	ADCQ -78(BX), R13
	ADCQ -70(BX), R13
	ADCQ -62(BX), R13
	ADCQ -54(BX), R13
	ADCQ -46(BX), R13
	ADCQ -38(BX), R13
	ADCQ -30(BX), R13
	ADCQ -22(BX), R13
	ADCQ -14(BX), R13
	ADCQ -6(BX), R13
	ADCQ 2(BX), R13
	ADCQ 10(BX), R13
	ADCQ 18(BX), R13
	ADCQ 26(BX), R13
	ADCQ 34(BX), R13
	ADCQ $0, R13
	RORXQ $32, R13, R14
	ADDL R14, R13
	ADCL $0, R13
	RORXL $16, R13, R14
	ADDW R14, R13
	ADCW $0, R13

	// The headers move.
	VMOVDQU 0(R12), Y0
	VMOVDQU 26(R12), X1
	MOVWLZX 24(R12), DX
	MOVWLZX 44(R12), R14
	SUBL AX, R15
	VMOVDQU Y0, 0(BX)
	VMOVDQU X1, 26(BX)

	// Port, checksums, that of IPv4 by RFC 1624, equation 3, and lengths.
	MOVW R14, 36(BX)
	MOVW R13, 40(BX)
	NOTL R9
	NOTL DX
	ADDW R9, DX
	ADCW $0, DX
	NOTL DX
	MOVW DX, 24(BX)
	LEAL -20(R15), DX
	ROLW $8, R15
	ROLW $8, DX
	MOVW R15, 16(BX)
	MOVW DX, 38(BX)
	ADDW AX, asmMbuf_dataOff(R11)
	SUBW AX, asmMbuf_dataLen(R11)
	SUBL AX, asmMbuf_pktLen(R11)
	RET

// From the four bytes before a hop on: its node, interfaces and latency as a number, and
// zero.
DATA hopOrder<>+0(SB)/8, $0x0b0a090807060504
DATA hopOrder<>+8(SB)/8, $0x808080800c0d0e0f
GLOBL hopOrder<>(SB), RODATA|NOPTR, $16
DATA hopRest<>+0(SB)/8, $0
DATA hopRest<>+8(SB)/8, $0xffffffff00000000
GLOBL hopRest<>(SB), RODATA|NOPTR, $16
