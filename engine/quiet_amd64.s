//go:build !purego

#include "textflag.h"
#include "funcdata.h"
#include "go_asm.h"

// What quietGo and stripGo say in Go, for runs of packets: read these first. Together 217
// instructions of a packet of the reference input, where Go took 500 (bench/instructions):
// what is needed stays in registers, and sums are added with carry. Only what every amd64
// processor has.
//
// SAFETY: Info comes from Memory.Recall, Locator.Again or Find: INT ends within the frame's
// first segment, its hops within INT. Locator.Judge says Usual only where there are hops
// of 12 bytes at least. Flows come from the table. What is stored as a pointer points
// out of the Go heap, so that no write barrier is missed.
//
// SI state, DI burst, R8 info, R9 flow, R10 lane, R11 mbuf, R12 frame.

// func quietRun(q *quietState, b *burst, from int) (next int)
TEXT ·quietRun(SB), NOSPLIT, $16-32
	NO_LOCAL_POINTERS
	MOVQ q+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ from+16(FP), CX

packet:
	CMPQ CX, burst_nINT(DI)
	JGE  done
	MOVBLZX burst_int(DI)(CX*1), AX
	IMUL3Q  $asmInfo__size, AX, R8
	LEAQ    burst_info(DI)(R8*1), R8
	CMPB    asmInfo_Usual(R8), $0
	JEQ     done
	MOVQ    burst_flow(DI)(CX*8), R9
	TESTQ   R9, R9
	JEQ     done

	// The flow: of these rules, nothing pending, no refresh due, known hops.
	MOVWLZX asmFlow_Generation(R9), DX
	CMPL    DX, quietState_generation(SI)
	JNE     done
	MOVBLZX asmFlow_Watch(R9), DX
	CMPQ    DX, quietState_lanes+8(SI)
	JAE     done
	IMUL3Q  $asmLane__size, DX, R10
	ADDQ    quietState_lanes(SI), R10
	MOVBLZX asmFlow_flags(R9), DX
	ANDB    asmLane_Mask(R10), DX
	CMPB    DX, asmLane_Flags(R10)
	JNE     done
	MOVL    quietState_refresh(SI), DX
	SUBL    asmFlow_NextRefresh(R9), DX
	JPL     done
	MOVWLZX asmInfo_Hops(R8), DX
	CMPL    DX, $const_maxHops
	JHI     done
	MOVBLZX asmFlow_NumHops(R9), BX
	CMPL    DX, BX
	JHI     done

	// Room in the totals.
	CMPL asmFlow_packets(R9), $-1
	JEQ  done
	MOVWLZX asmInfo_Size(R8), BX
	ADDL asmFlow_bytes(R9), BX
	JCS  done

	MOVQ    burst_vec(DI), R11
	MOVQ    (R11)(AX*8), R11
	MOVWLZX asmMbuf_dataOff(R11), R12
	ADDQ    asmMbuf_bufAddr(R11), R12

	// Hops: AX at, BX known, CX left of, DX hash, R13 sum of latencies.
	MOVQ    CX, 0(SP)
	MOVWLZX asmInfo_Stack(R8), AX
	ADDQ    R12, AX
	LEAQ    asmFlow_Hops(R9), BX
	MOVL    DX, CX
	XORL    R13, R13
	MOVQ    R8, R15
	MOVWLZX asmInfo_HopLen(R8), R8

hop:
	MOVL  (AX), R14
	CMPL  R14, asmHop_Node(BX)
	JNE   stop
	XORQ  (AX), DX
	IMULQ quietState_key(SI), DX
	ROLQ  $32, DX
	MOVL  8(AX), R14
	BSWAPL R14
	ADDQ  R14, R13
	SUBL  asmHop_Ref(BX), R14
	ADDL  asmLane_Absolute(R10), R14
	CMPL  R14, asmLane_Twice(R10)
	JHI   stop
	ADDQ  R8, AX
	ADDQ  $asmHop__size, BX
	DECL  CX
	JNE   hop

	CMPQ DX, asmFlow_PathHash(R9)
	JNE  stop
	MOVL asmFlow_EndRef(R9), AX
	SUBQ AX, R13
	ADDQ asmLane_End(R10), R13
	CMPQ R13, asmLane_EndTwice(R10)
	JHI  stop
	CMPB asmLane_Things(R10), $0
	JNE  things

quiet:
	MOVQ R15, R8
	MOVL quietState_tick(SI), AX
	MOVL AX, asmFlow_PathSeen(R9)
	INCL asmFlow_packets(R9)
	MOVWLZX asmInfo_Size(R8), AX
	ADDL AX, asmFlow_bytes(R9)
	MOVL asmLane_Sampled(R10), AX
	ADDL asmLane_Step(R10), AX
	CMPL AX, asmLane_Limit(R10)
	JAE  sample
	MOVL AX, asmLane_Sampled(R10)
	CMPB asmInfo_Plain(R8), $0
	JEQ  keep
	CALL strip<>(SB)
	MOVQ 0(SP), CX
	INCQ CX
	JMP  packet

things: // event.Lane.Calm: AX at, CX hops left, DX and BX offsets
	CMPB quietState_calm(SI), $0
	JEQ  stop
	MOVWLZX asmInfo_Stack(R15), AX
	ADDQ    R12, AX
	MOVWLZX asmInfo_Hops(R15), CX
	MOVBLZX asmInfo_QueueAt(R15), DX
	MOVBLZX asmInfo_TxAt(R15), BX

thing:
	MOVL   8(AX), R13
	BSWAPL R13
	CMPL   R13, asmLane_Latency(R10)
	JCS    queue
	CMPL   R13, $-1
	JNE    stop

queue:
	TESTL  DX, DX
	JEQ    tx
	MOVL   (AX)(DX*1), R13
	BSWAPL R13
	MOVL   R13, R14
	ANDL   $0xffffff, R14
	CMPL   R14, asmLane_Raise(R10)
	JCS    tx
	CMPL   R13, $-1
	JNE    stop

tx:
	TESTL  BX, BX
	JEQ    passed
	MOVL   (AX)(BX*1), R13
	BSWAPL R13
	CMPL   R13, asmLane_Tx(R10)
	JCS    passed
	CMPL   R13, $-1
	JNE    stop

passed:
	ADDQ R8, AX
	DECL CX
	JNE  thing
	JMP  quiet

keep:
	MOVQ 0(SP), CX
	MOVBLZX burst_int(DI)(CX*1), AX
	MOVQ burst_nRest(DI), BX
	MOVB AX, burst_rest(DI)(BX*1)
	INCQ burst_nRest(DI)
	INCQ CX
	JMP  packet

sample:
	MOVL $0, asmLane_Sampled(R10)
	MOVQ 0(SP), CX
	MOVL $1, AX
	SHLQ CX, AX
	ORQ  AX, quietState_samples(SI)
	INCQ CX
	JMP  packet

stop:
	MOVQ 0(SP), CX

done:
	MOVQ CX, next+24(FP)
	RET

// func stripRun(b *burst, from int) (next int)
TEXT ·stripRun(SB), NOSPLIT, $8-24
	NO_LOCAL_POINTERS
	MOVQ b+0(FP), DI
	MOVQ from+8(FP), CX

packet:
	CMPQ CX, burst_nRest(DI)
	JGE  done
	MOVBLZX burst_rest(DI)(CX*1), AX
	IMUL3Q  $asmInfo__size, AX, R8
	LEAQ    burst_info(DI)(R8*1), R8
	CMPB    asmInfo_Plain(R8), $0
	JEQ     done
	CMPB    asmInfo_Discard(R8), $0
	JNE     done
	MOVQ    burst_vec(DI), R11
	MOVQ    (R11)(AX*8), R11
	MOVWLZX asmMbuf_dataOff(R11), R12
	ADDQ    asmMbuf_bufAddr(R11), R12
	MOVQ    CX, 0(SP)
	CALL    strip<>(SB)
	MOVQ    0(SP), CX
	INCQ    CX
	JMP     packet

done:
	MOVQ CX, next+16(FP)
	RET

// strip.Plain of the frame R12 in mbuf R11, of which R8 is the info.
TEXT strip<>(SB), NOSPLIT|NOFRAME, $0
	// AX bytes go, BX is where the frame will start.
	MOVWLZX asmInfo_End(R8), AX
	SUBQ $const_plainLen, AX
	LEAQ (R12)(AX*1), BX
	MOVOU 0(R12), X0
	MOVOU 16(R12), X1
	MOVOU 26(R12), X2
	XORL R13, R13
	ADDQ $const_plainLen, R12
	CMPW -2(R12), $0
	JEQ  move

	// One's complement sum of what goes in R13, a multiple of four bytes.
	MOVL AX, CX
	SHRL $5, CX
	JEQ  sixteen

sum:
	ADDQ 0(R12), R13
	ADCQ 8(R12), R13
	ADCQ 16(R12), R13
	ADCQ 24(R12), R13
	ADCQ $0, R13
	ADDQ $32, R12
	DECL CX
	JNE  sum

sixteen:
	TESTB $16, AX
	JEQ   eight
	ADDQ  0(R12), R13
	ADCQ  8(R12), R13
	ADCQ  $0, R13
	ADDQ  $16, R12

eight:
	TESTB $8, AX
	JEQ   four
	ADDQ  0(R12), R13
	ADCQ  $0, R13
	ADDQ  $8, R12

four:
	TESTB $4, AX
	JEQ   move
	MOVL  0(R12), DX
	ADDQ  DX, R13
	ADCQ  $0, R13

move:
	MOVOU X0, 0(BX)
	MOVOU X1, 16(BX)
	MOVOU X2, 26(BX)

	// Lengths, and the checksum of IPv4 by RFC 1624, equation 3.
	MOVWLZX 16(BX), DX
	ROLW    $8, DX
	SUBL    AX, DX
	ROLW    $8, DX
	MOVW    DX, 16(BX)
	MOVL    AX, CX
	ROLW    $8, CX // shrink, in the order of the packet
	MOVL    CX, R15
	NOTL    R15
	MOVWLZX 24(BX), DX
	NOTL    DX
	ADDW    R15, DX
	ADCW    $0, DX
	NOTL    DX
	MOVW    DX, 24(BX)
	MOVWLZX 38(BX), DX
	ROLW    $8, DX
	SUBL    AX, DX
	ROLW    $8, DX
	MOVW    DX, 38(BX)

	// The port, and the checksum of UDP but where it is zero: what goes is added, then
	// the port that was less the one that will be, and twice the shrink less itself.
	MOVWLZX asmInfo_Orig(R8), R15
	ROLW    $8, R15
	MOVWLZX 36(BX), R12
	MOVW    R15, 36(BX)
	MOVWLZX 40(BX), DX
	TESTL   DX, DX
	JEQ     moved
	XORL    $0xffff, R15
	ADDL    R12, DX
	ADDL    R15, DX
	LEAL    (DX)(CX*2), DX
	ADDQ    DX, R13
	ADCQ    $0, R13
	MOVQ    R13, DX
	SHRQ    $32, DX
	ADDL    R13, DX
	ADCL    $0, DX
	MOVL    DX, R13
	SHRL    $16, R13
	ADDW    R13, DX
	ADCW    $0, DX
	MOVW    DX, 40(BX)

moved:
	ADDW AX, asmMbuf_dataOff(R11)
	SUBW AX, asmMbuf_dataLen(R11)
	SUBL AX, asmMbuf_pktLen(R11)
	RET
