-- Wireshark and tshark dissector of In-band Network Telemetry and of Telemetry
-- Reports. One file, so that copying it is installing it; README.md says how.
--
--   int         INT 2.x (MD, MX, Destination) and INT 1.0, over UDP, TCP, GRE,
--               VXLAN-GPE and Geneve; IFA 2.0 behind IP
--   int_report  Telemetry Report 2.0, 1.0 and 0.5
--
-- Sections: reading, handing on, metadata, INT headers, encapsulations of INT, reports,
-- registration. Offsets and sizes are in bytes, names are the specifications'.
-- Runs on Lua 5.2 to 5.4: no bit operators, no bit32.

local int = Proto("int", "In-band Network Telemetry")
local report = Proto("int_report", "INT Telemetry Report")
-- Handles for the tables that name a protocol; all show themselves as int.
local int_gre = Proto("int_gre", "In-band Network Telemetry over GRE")
local int_gpe = Proto("int_gpe", "In-band Network Telemetry over VXLAN-GPE")
local int_geneve = Proto("int_geneve", "In-band Network Telemetry over Geneve")
local int_ifa = Proto("int_ifa", "Inband Flow Analyzer")

------------------------------------------------------------------- reading ---

local malformed = ProtoExpert.new("int.malformed", "Malformed INT",
	expert.group.MALFORMED, expert.severity.ERROR)
local cut = ProtoExpert.new("int.cut", "The packet is cut short here",
	expert.group.UNDECODED, expert.severity.NOTE)
local report_malformed = ProtoExpert.new("int_report.malformed", "Malformed telemetry report",
	expert.group.MALFORMED, expert.severity.ERROR)
local report_cut = ProtoExpert.new("int_report.cut", "The report is cut short by the capture",
	expert.group.UNDECODED, expert.severity.NOTE)

-- fields_of returns a list and the function that defines a field of the given
-- prefix and puts it there.
local function fields_of(prefix)
	local list = {}
	local function define(kind, name, label, ...)
		local field = ProtoField[kind](prefix .. "." .. name, label, ...)
		list[#list + 1] = field
		return field
	end
	return list, define
end

-- bits adds n bits at bit position pos of tvb, most significant first, and
-- returns their value.
local function bits(tree, field, tvb, pos, n)
	local first = math.floor(pos / 8)
	local range = tvb(first, math.floor((pos + n - 1) / 8) - first + 1)
	local value = range:bitfield(pos - first * 8, n)
	return value, tree:add(field, range, value)
end

-- flag adds the one bit at bit position pos.
local function flag(tree, field, tvb, pos)
	local range = tvb(math.floor(pos / 8), 1)
	local value = range:bitfield(pos % 8, 1) == 1
	tree:add(field, range, value)
	return value
end

-- bytes adds tvb[at:stop] unless that is empty.
local function bytes(tree, field, tvb, at, stop)
	if stop > at then
		tree:add(field, tvb(at, stop - at))
	end
end

-- asked tells whether bit n of a 16-bit map is set; bit 0 is the highest.
local function asked(map, n)
	return math.floor(map / 2 ^ (15 - n)) % 2 == 1
end

-- inside_report is the tree of a report while the packet in it is dissected, which
-- is most often a fragment; nil otherwise.
local inside_report = nil

-- is_cut tells whether tvb may end before what it holds: the capture has not all
-- of the frame, or this packet is part of a report.
local function is_cut(tvb)
	return inside_report ~= nil or tvb:len() < tvb:reported_len()
end

-- too_short marks data that is shorter than its header says.
local function too_short(tree, tvb, text)
	tree:add_proto_expert_info(is_cut(tvb) and cut or malformed, text)
end

---------------------------------------------------------------- handing on ---

local data = Dissector.get("data")
local udp_port = DissectorTable.get("udp.port")
local tcp_port = DissectorTable.get("tcp.port")
local ip_proto = DissectorTable.get("ip.proto")
local ethertype = DissectorTable.get("ethertype")
local gre_proto = DissectorTable.get("gre.proto")
local gpe_next = DissectorTable.get("vxlan.next_proto")

-- nested is how deep our dissectors stand in each other in one frame: each level
-- takes some of Lua's C stack, which has 200 places.
local max_nested = 8
local nested, nested_frame = 0, 0

-- enter runs f unless that is too deep or tvb is empty, and tells whether it did.
local function enter(tvb, pinfo, f)
	if pinfo.number ~= nested_frame then
		nested, nested_frame, inside_report = 0, pinfo.number, nil
	end
	if nested >= max_nested or tvb:len() == 0 then
		return false
	end
	nested = nested + 1
	f()
	nested = nested - 1
	return true
end

-- try hands tvb[at:] to the first of tables, { table, key } each, that takes it.
-- Where that runs out of bytes, Wireshark has already said so in the tree, and Lua
-- need not.
local function try(tvb, at, pinfo, root, tables)
	if at >= tvb:len() then
		return
	end
	local rest = tvb(at):tvb()
	for _, t in ipairs(tables) do
		local whole, n = pcall(t[1].try, t[1], t[2], rest, pinfo, root)
		if not whole or n > 0 then
			return
		end
	end
	data:call(rest, pinfo, root)
end

-- Protocols that a capture may name behind INT with NPT 2. Others, such as IPv6's
-- extension headers, need what only the IP dissectors know.
local transports = {
	[1] = true, [2] = true, [4] = true, [6] = true, [17] = true, [33] = true, [41] = true,
	[47] = true, [50] = true, [58] = true, [89] = true, [103] = true, [112] = true,
	[132] = true, [136] = true,
}

------------------------------------------------------------------ metadata ---

-- What each bit stands for: { name, bytes } in the order of the wire.
local function word(name) return { { name, 4 } } end
local function wide(name) return { { name, 8 } } end

local interfaces = { { "ingress_interface_id", 2 }, { "egress_interface_id", 2 } }
local level2 = { { "level2_ingress_interface_id", 4 }, { "level2_egress_interface_id", 4 } }
local level2_short = { { "level2_ingress_interface_id", 2 }, { "level2_egress_interface_id", 2 } }
local queue = { { "queue_id", 1 }, { "queue_occupancy", 3 } }
local buffer = { { "buffer_id", 1 }, { "buffer_occupancy", 3 } }
local drop = { { "drop_queue_id", 1 }, { "drop_reason", 1 }, { "padding", 2 } }
local reserved = word("reserved")

-- INT 2.1, section "INT-MD Metadata Header Format".
local hop_bits = {
	[0] = word("node_id"), interfaces, word("hop_latency"), queue,
	wide("ingress_timestamp"), wide("egress_timestamp"), level2, word("tx_utilization"),
	buffer, reserved, reserved, reserved, reserved, reserved, reserved, word("checksum_complement"),
}

-- INT 1.0, section 4.7: timestamps of one word, no buffers.
local function old_hop_bits(level2_parts, stamp)
	return {
		[0] = word("node_id"), interfaces, word("hop_latency"), queue,
		stamp("ingress_timestamp"), stamp("egress_timestamp"), level2_parts, word("tx_utilization"),
		reserved, reserved, reserved, reserved, reserved, reserved, reserved, word("checksum_complement"),
	}
end

-- Telemetry Report 2.0, section "Individual Report Main Contents for RepType 1".
local report_bits = {
	[0] = reserved, interfaces, word("hop_latency"), queue,
	wide("ingress_timestamp"), wide("egress_timestamp"), level2, word("tx_utilization"),
	buffer, reserved, reserved, reserved, reserved, reserved, reserved, drop,
}

-- Telemetry Report 1.0, section 3.2; six bits only.
local old_report_bits = {
	[0] = interfaces, word("hop_latency"), queue, word("egress_timestamp"), drop, word("tx_utilization"),
}

-- { name, label, kind, unit } of every value that a bit can stand for.
local values = {
	{ "node_id", "Node ID", "uint32" },
	{ "ingress_interface_id", "Level 1 Ingress Interface ID", "uint16" },
	{ "egress_interface_id", "Level 1 Egress Interface ID", "uint16" },
	{ "hop_latency", "Hop Latency", "uint32", " ns" },
	{ "queue_id", "Queue ID", "uint8" },
	{ "queue_occupancy", "Queue Occupancy", "uint24" },
	{ "ingress_timestamp", "Ingress Timestamp", "uint64", " ns" },
	{ "egress_timestamp", "Egress Timestamp", "uint64", " ns" },
	{ "level2_ingress_interface_id", "Level 2 Ingress Interface ID", "uint32" },
	{ "level2_egress_interface_id", "Level 2 Egress Interface ID", "uint32" },
	{ "tx_utilization", "Egress Interface TX Utilization", "uint32" },
	{ "buffer_id", "Buffer ID", "uint8" },
	{ "buffer_occupancy", "Buffer Occupancy", "uint24" },
	{ "reserved", "Reserved", "uint32" },
	{ "checksum_complement", "Checksum Complement", "uint32" },
	{ "drop_queue_id", "Queue ID", "uint8" },
	{ "drop_reason", "Drop Reason", "uint8" },
	{ "padding", "Padding", "uint16" },
}
local in_hex = { reserved = true, checksum_complement = true, padding = true }

-- value_fields defines a field for each value but those in without.
local function value_fields(define, prefix, without)
	local all = {}
	for _, v in ipairs(values) do
		local name, label, kind, unit = v[1], v[2], v[3], v[4]
		if without[name] then
			-- not in this format
		elseif unit then
			all[name] = define(kind, prefix .. name, label, base.UNIT_STRING, { unit })
		else
			all[name] = define(kind, prefix .. name, label, in_hex[name] and base.HEX or base.DEC)
		end
	end
	return all
end

local function size_of(parts)
	local n = 0
	for _, part in ipairs(parts) do
		n = n + part[2]
	end
	return n
end

-- map_size is how many bytes the set bits of map ask for.
local function map_size(meaning, map)
	local n = 0
	for bit = 0, 15 do
		if meaning[bit] and asked(map, bit) then
			n = n + size_of(meaning[bit])
		end
	end
	return n
end

-- is_null: all ones say that the node could not provide the value. An identifier
-- of eight bits counts only together with its whole word.
local function is_null(range, whole)
	local function ones(r) return r:bytes():tohex():find("^[Ff]+$") ~= nil end
	return ones(whole) or range:len() > 1 and ones(range)
end

-- as_time is the UTC time of a timestamp that can be one: after 2001.
local function as_time(range)
	if range:len() < 8 then
		return ""
	end
	local seconds = math.floor(range:uint64():tonumber() / 1e9)
	if seconds < 1e9 or seconds > 2 ^ 33 then
		return ""
	end
	return os.date("! (%Y-%m-%d %H:%M:%S UTC)", seconds)
end

local function add_parts(tree, fields, parts, tvb, at, bit)
	local whole = tvb(at, size_of(parts))
	for _, part in ipairs(parts) do
		local name, range = part[1], tvb(at, part[2])
		local item = tree:add(fields[name], range)
		if name == "reserved" then
			item:append_text(" (bit " .. bit .. ")")
		elseif is_null(range, whole) then
			item:append_text(" (not available)")
		elseif name:find("timestamp$") then
			item:append_text(as_time(range))
		end
		at = at + part[2]
	end
end

-- add_values adds what map asks for from tvb[at:stop] as far as it is there in
-- full, and returns where it ends.
local function add_values(tree, fields, meaning, map, tvb, at, stop)
	for bit = 0, 15 do
		if meaning[bit] and asked(map, bit) then
			local size = size_of(meaning[bit])
			if at + size > stop then
				return at
			end
			add_parts(tree, fields, meaning[bit], tvb, at, bit)
			at = at + size
		end
	end
	return at
end

-- bitmap_fields defines one boolean for each bit, named { name, label }.
local function bitmap_fields(define, prefix, names)
	local all = {}
	for bit, name in pairs(names) do
		all[bit] = define("bool", prefix .. "." .. name[1], "Bit " .. bit .. ": " .. name[2])
	end
	return all
end

-- add_bitmap adds a map of n bits at bit position pos and each of its bits.
local function add_bitmap(tree, field, each, tvb, pos, n)
	local value, item = bits(tree, field, tvb, pos, n)
	for bit = 0, n - 1 do
		flag(item, each[bit], tvb, pos + bit)
	end
	return value
end

local bit_names = {
	[0] = { "node_id", "Node ID" },
	{ "interfaces", "Level 1 Ingress + Egress Interface ID" },
	{ "hop_latency", "Hop Latency" },
	{ "queue", "Queue ID + Queue Occupancy" },
	{ "ingress_timestamp", "Ingress Timestamp" },
	{ "egress_timestamp", "Egress Timestamp" },
	{ "level2_interfaces", "Level 2 Ingress + Egress Interface ID" },
	{ "tx_utilization", "Egress Interface TX Utilization" },
	{ "buffer", "Buffer ID + Buffer Occupancy" },
	{ "reserved_9", "Reserved" }, { "reserved_10", "Reserved" }, { "reserved_11", "Reserved" },
	{ "reserved_12", "Reserved" }, { "reserved_13", "Reserved" }, { "reserved_14", "Reserved" },
	{ "checksum_complement", "Checksum Complement" },
}

-- renamed is bit_names with some bits of another meaning.
local function renamed(other)
	local all = {}
	for bit = 0, 15 do
		all[bit] = other[bit] or bit_names[bit]
	end
	return all
end

--------------------------------------------------------------- INT headers ---

local type_names = { [1] = "INT-MD", [2] = "Destination", [3] = "INT-MX" }
local old_type_names = { [1] = "INT hop-by-hop", [2] = "Destination" }
local npt_names = {
	[0] = "none: DSCP or probe marker marks INT", [1] = "original UDP port follows",
	[2] = "original L4 header follows",
}

local int_fields, define = fields_of("int")
local f = {
	probe_marker = define("uint64", "probe_marker", "Probe Marker", base.HEX),
	shim = define("none", "shim", "Shim Header"),
	type = define("uint8", "type", "Type", base.DEC, type_names),
	npt = define("uint8", "npt", "Next Protocol Type", base.DEC, npt_names),
	g = define("bool", "g", "G: encapsulation inserted by the source"),
	length = define("uint8", "length", "Length", base.UNIT_STRING, { " words" }),
	dscp = define("uint8", "dscp", "Original DSCP", base.DEC),
	udp_port = define("uint16", "udp_port", "Original UDP Destination Port", base.DEC),
	ip_proto = define("uint8", "ip_proto", "Original IP Protocol", base.DEC),
	ethertype = define("uint16", "ethertype", "Next Protocol", base.HEX),
	next_protocol = define("uint8", "next_protocol", "Next Protocol", base.HEX),
	header = define("none", "header", "Header"),
	hop_count = define("uint32", "hop_count", "Hops", base.DEC),
	hop = define("none", "hop", "Hop"),
	ds_metadata = define("bytes", "hop.ds_metadata", "Domain Specific Metadata"),
	source_metadata = define("bytes", "source_metadata", "Source-Only Metadata"),
	destination = define("bytes", "destination", "Destination Header"),
	undecoded = define("bytes", "undecoded", "Undecoded"),
}
local hop_values = value_fields(define, "hop.", { drop_queue_id = true, drop_reason = true, padding = true })

-- header_fields are those of the 12-byte header, which MD and MX share but for
-- the first word.
local function header_fields(prefix)
	return {
		version = define("uint8", prefix .. ".version", "Ver", base.DEC),
		d = define("bool", prefix .. ".d", "D: Discard"),
		reserved = define("uint32", prefix .. ".reserved", "Reserved", base.HEX),
		bitmap = define("uint16", prefix .. ".bitmap", "Instruction Bitmap", base.HEX),
		bits = bitmap_fields(define, prefix .. ".bitmap", bit_names),
		domain = define("uint16", prefix .. ".domain", "Domain Specific ID", base.HEX),
		ds_instruction = define("uint16", prefix .. ".ds_instruction", "DS Instruction", base.HEX),
		ds_flags = define("uint16", prefix .. ".ds_flags", "DS Flags", base.HEX),
	}
end

local md = header_fields("md")
md.e = define("bool", "md.e", "E: Max Hop Count exceeded")
md.m = define("bool", "md.m", "M: MTU exceeded")
md.hop_ml = define("uint8", "md.hop_ml", "Hop ML", base.UNIT_STRING, { " words" })
md.remaining_hops = define("uint8", "md.remaining_hops", "Remaining Hop Count", base.DEC)
local mx = header_fields("mx")

local v1 = {
	version = define("uint8", "v1.version", "Ver", base.DEC),
	rep = define("uint8", "v1.rep", "Rep: Replication", base.DEC),
	c = define("bool", "v1.c", "C: Copy"),
	e = define("bool", "v1.e", "E: Max Hop Count exceeded"),
	m = define("bool", "v1.m", "M: MTU exceeded"),
	reserved = define("uint32", "v1.reserved", "Reserved", base.HEX),
	hop_ml = define("uint8", "v1.hop_ml", "Hop ML", base.UNIT_STRING, { " words" }),
	remaining_hops = define("uint8", "v1.remaining_hops", "Remaining Hop Count", base.DEC),
	bitmap = define("uint16", "v1.bitmap", "Instruction Bitmap", base.HEX),
	bits = bitmap_fields(define, "v1.bitmap", renamed({ [8] = { "reserved_8", "Reserved" } })),
	reserved2 = define("uint16", "v1.reserved2", "Reserved", base.HEX),
}

local ifa = {
	version = define("uint8", "ifa.version", "Version", base.DEC),
	gns = define("uint8", "ifa.gns", "GNS: Global Namespace", base.DEC),
	reserved = define("uint8", "ifa.reserved", "Reserved", base.HEX),
	mf = define("bool", "ifa.mf", "MF: Metadata Fragment"),
	ts = define("bool", "ifa.ts", "TS: Tail Stamp"),
	i = define("bool", "ifa.i", "I: Inband, a live packet"),
	ta = define("bool", "ifa.ta", "TA: Turn Around"),
	c = define("bool", "ifa.c", "C: Checksum"),
	max_length = define("uint8", "ifa.max_length", "Max Length", base.UNIT_STRING, { " words" }),
	checksum = define("uint16", "ifa.checksum", "Checksum", base.HEX),
	packet_id = define("uint32", "ifa.packet_id", "Packet ID", base.DEC),
	fragment_id = define("uint8", "ifa.fragment_id", "Fragment ID", base.DEC),
	last = define("bool", "ifa.last", "L: Last Fragment"),
	request = define("uint8", "ifa.request", "Request Vector", base.HEX),
	loss = define("bool", "ifa.loss", "L: Loss"),
	color = define("bool", "ifa.color", "C: Color"),
	hop_limit = define("uint8", "ifa.hop_limit", "Hop Limit", base.DEC),
	length = define("uint8", "ifa.length", "Current Length", base.UNIT_STRING, { " words" }),
	hop = {
		lns = define("uint8", "hop.lns", "LNS: Local Namespace", base.DEC),
		ttl = define("uint8", "hop.ttl", "IP TTL", base.DEC),
		speed = define("uint8", "hop.speed", "Egress Port Speed", base.DEC, {
			[0] = "10 Gbit/s", "25 Gbit/s", "40 Gbit/s", "50 Gbit/s", "100 Gbit/s", "200 Gbit/s", "400 Gbit/s",
		}),
		congestion = define("uint8", "hop.congestion", "Congestion (ECN)", base.DEC),
		seconds = define("uint32", "hop.rx_seconds", "Receive Time, 20 bits", base.UNIT_STRING, { " s" }),
		nanoseconds = define("uint32", "hop.rx_nanoseconds", "Receive Time", base.UNIT_STRING, { " ns" }),
		opaque = define("bytes", "hop.opaque", "Opaque"),
	},
}

int.fields = int_fields
int.experts = { malformed, cut }

local header_len, old_header_len = 12, 8
local transparent_security = 0x5453

-- add_head adds the part that MD and MX have in common from bit position pos on.
local function add_head(tree, h, tvb, pos)
	local head = {}
	head.bitmap = add_bitmap(tree, h.bitmap, h.bits, tvb, pos + 32, 16)
	head.domain = bits(tree, h.domain, tvb, pos + 48, 16)
	head.ds_instruction = bits(tree, h.ds_instruction, tvb, pos + 64, 16)
	bits(tree, h.ds_flags, tvb, pos + 80, 16)
	return head
end

local function add_md_header(tree, tvb, at)
	local pos = at * 8
	bits(tree, md.version, tvb, pos, 4)
	flag(tree, md.d, tvb, pos + 4)
	flag(tree, md.e, tvb, pos + 5)
	flag(tree, md.m, tvb, pos + 6)
	bits(tree, md.reserved, tvb, pos + 7, 12)
	local hop_ml = bits(tree, md.hop_ml, tvb, pos + 19, 5)
	bits(tree, md.remaining_hops, tvb, pos + 24, 8)
	local head = add_head(tree, md, tvb, pos)
	head.hop = hop_ml * 4
	return head
end

local function add_mx_header(tree, tvb, at)
	local pos = at * 8
	bits(tree, mx.version, tvb, pos, 4)
	flag(tree, mx.d, tvb, pos + 4)
	bits(tree, mx.reserved, tvb, pos + 5, 27)
	return add_head(tree, mx, tvb, pos)
end

local function add_v1_header(tree, tvb, at)
	local pos = at * 8
	bits(tree, v1.version, tvb, pos, 4)
	bits(tree, v1.rep, tvb, pos + 4, 2)
	flag(tree, v1.c, tvb, pos + 6)
	flag(tree, v1.e, tvb, pos + 7)
	flag(tree, v1.m, tvb, pos + 8)
	bits(tree, v1.reserved, tvb, pos + 9, 10)
	local head = { hop = bits(tree, v1.hop_ml, tvb, pos + 19, 5) * 4 }
	bits(tree, v1.remaining_hops, tvb, pos + 24, 8)
	head.bitmap = add_bitmap(tree, v1.bitmap, v1.bits, tvb, pos + 32, 16)
	bits(tree, v1.reserved2, tvb, pos + 48, 16)
	return head
end

-- source_only is how many of the stack's size bytes only the source wrote: eight
-- for the device of Transparent Security, of another domain what whole hops leave over.
local function source_only(head, size)
	if head.domain == transparent_security and asked(head.ds_instruction, 0)
		and size >= 8 and (size - 8) % head.hop == 0 then
		return 8
	end
	return size % head.hop
end

-- disagreement says what is wrong with the lengths of a stack of size bytes, nil where
-- nothing is. Without instructions of a domain, as INT 1.0 always is, a hop has what the
-- Instruction Bitmap asks for and nothing else, and so has the stack.
local function disagreement(meaning, head, size)
	local need = map_size(meaning, head.bitmap)
	if size == 0 then
		return nil
	elseif head.hop == 0 then
		return "Hop ML is 0, the stack is not empty"
	elseif need > head.hop then
		return "the Instruction Bitmap asks for more than Hop ML"
	elseif head.domain and head.domain ~= 0 and head.ds_instruction ~= 0 then
		return nil
	elseif need < head.hop then
		return "the Instruction Bitmap asks for less than Hop ML"
	elseif size % head.hop ~= 0 then
		return "the stack is not whole hops"
	end
end

-- add_hop adds the hop in tvb[at:stop]. Domain specific metadata stands behind
-- the baseline, the checksum complement at the very end.
local function add_hop(tree, meaning, head, tvb, at, stop)
	local map = head.bitmap
	local complement = map % 2
	local last = stop - complement * 4
	local behind = add_values(tree, hop_values, meaning, map - complement, tvb, at, last)
	bytes(tree, f.ds_metadata, tvb, behind, last)
	add_values(tree, hop_values, meaning, complement, tvb, last, stop)
end

-- add_hops adds the whole hops in tvb[at:stop], newest first, and returns the
-- node ids.
local function add_hops(tree, meaning, head, tvb, at, stop)
	local nodes, count = {}, 0
	while at + head.hop <= stop do
		count = count + 1
		local item = tree:add(f.hop, tvb(at, head.hop))
		local text = "Hop " .. count
		if asked(head.bitmap, 0) then
			nodes[count] = tvb(at, 4):uint()
			text = text .. ", node " .. nodes[count]
		end
		item:set_text(text)
		add_hop(item, meaning, head, tvb, at, at + head.hop)
		at = at + head.hop
	end
	tree:add(f.hop_count, count):set_generated()
	return nodes, count
end

-- add_stack adds the metadata stack: size bytes are announced, tvb[at:stop] is
-- there.
local function add_stack(c, tree, meaning, head, at, stop, size)
	local tvb = c.tvb
	local problem = disagreement(meaning, head, size)
	if problem then
		tree:add_proto_expert_info(malformed, problem)
	end
	if problem or c.misfit then
		return bytes(tree, f.undecoded, tvb, at, stop)
	end
	local source = size > 0 and source_only(head, size) or 0
	local bottom = math.min(stop, at + size - source)
	local nodes, count = {}, 0
	if head.hop > 0 then
		nodes, count = add_hops(tree, meaning, head, tvb, at, bottom)
	end
	bytes(tree, f.source_metadata, tvb, bottom, stop)
	c.info = c.info .. " hops=" .. count .. (#nodes > 0 and " nodes=" .. table.concat(nodes, ",") or "")
end

-- old_meanings: some write level 2 interfaces of INT 1.0 as 16 bits each, and GEANT's
-- int_v1.0 timestamps of 64 bits as well, which shows in Hop ML. Two of them can be
-- equally long: the document's, which is the first, counts then.
local old_meanings = {
	old_hop_bits(level2, word), old_hop_bits(level2_short, word), old_hop_bits(level2_short, wide),
}

local function old_meaning(head)
	for _, meaning in ipairs(old_meanings) do
		if map_size(meaning, head.bitmap) == head.hop then
			return meaning
		end
	end
	return old_meanings[1]
end

-- headers: { length, version, how to add it } by kind.
local headers = {
	md = { header_len, 2, add_md_header, "INT-MD" },
	mx = { header_len, 2, add_mx_header, "INT-MX" },
	v1 = { old_header_len, 1, add_v1_header, "INT 1.0" },
}
local kinds = { [1] = "md", [2] = "destination", [3] = "mx" }

-- add_body adds the INT header of that kind and what it holds: size bytes at c.at.
-- It returns where INT ends, nil where that cannot be believed.
local function add_body(c, kind, size)
	local tvb, at = c.tvb, c.at
	local stop = math.min(at + size, tvb:len())
	local function fail(text)
		c.tree:add_proto_expert_info(malformed, text)
		bytes(c.tree, f.undecoded, tvb, at, stop)
	end
	if at + size > tvb:len() then
		too_short(c.tree, tvb, "Length says " .. size .. " bytes, " .. stop - at .. " are there")
	end
	if kind == "destination" then
		if size == 0 then
			return fail("a Destination header of no words")
		end
		c.info = c.info .. "INT Destination"
		bytes(c.tree, f.destination, tvb, at, stop)
		return stop
	end
	local h = headers[kind]
	if size < h[1] then
		return fail("Length says " .. size .. " bytes, the header has " .. h[1])
	end
	if stop - at < h[1] then
		bytes(c.tree, f.undecoded, tvb, at, stop)
		return stop
	end
	if tvb(at, 1):bitfield(0, 4) ~= h[2] then
		return fail("Ver is " .. tvb(at, 1):bitfield(0, 4) .. ", not " .. h[2])
	end
	c.info = c.info .. h[4]
	local item = c.tree:add(f.header, tvb(at, h[1]))
	item:set_text(h[4] .. " Header")
	local head = h[3](item, tvb, at)
	if kind == "mx" then
		bytes(c.tree, c.misfit and f.undecoded or f.source_metadata, tvb, at + h[1], stop)
	else
		local meaning = kind == "v1" and old_meaning(head) or hop_bits
		add_stack(c, c.tree, meaning, head, at + h[1], stop, size - h[1])
	end
	return stop
end

------------------------------------------------------ encapsulations of INT ---

local shim_len = 4

-- context opens the tree of INT that begins at byte at of tvb. INT in a report
-- stands below it: UDP's own dissector names the root.
local function context(tvb, at, pinfo, root, size)
	root = inside_report or root
	local tree = root:add(int, tvb(at, math.min(size, tvb:len() - at)))
	return { tvb = tvb, at = at, pinfo = pinfo, root = root, tree = tree, info = "" }
end

-- close names the packet in the columns; what comes behind may do so again.
local function close(c)
	if c.info ~= "" then
		c.tree:append_text(": " .. c.info)
		c.pinfo.cols.protocol = "INT"
		c.pinfo.cols.info = c.info
	end
end

local udp_length = Field.new("udp.length")

-- left_of_udp is how many bytes of the UDP datagram that tvb is from are at byte at and behind, as
-- its header says: a report may have fewer.
local function left_of_udp(tvb, at)
	local all = { udp_length() }
	local last = all[#all]
	return last and last.offset - 4 + last.value - tvb:offset() - at
end

local ip_length, ip6_length = Field.new("ip.len"), Field.new("ipv6.plen")

-- ip_end is where the last IP packet ends, as its header says; nil: there is none.
local function ip_end()
	local ip, ip6 = { ip_length() }, { ip6_length() }
	ip, ip6 = ip[#ip], ip6[#ip6]
	if ip6 and not (ip and ip.offset > ip6.offset) then
		return ip6.offset + 36 + ip6.value
	end
	return ip and ip.offset - 2 + ip.value
end

-- lengths_agree tells whether the last UDP datagram ends where its IP packet does. Some sources do
-- not add INT to the UDP length; nothing is known of the end then.
local function lengths_agree()
	local all = { udp_length() }
	local udp, stop = all[#all], ip_end()
	return udp ~= nil and stop == udp.offset - 4 + udp.value
end

-- unpadded is the end of tvb without the zeros, three at most, that a report has behind a packet
-- that is cut.
local function unpadded(tvb, at)
	local stop = tvb:len()
	for _ = 1, 3 do
		if stop > at and tvb(stop - 1, 1):uint() == 0 then
			stop = stop - 1
		end
	end
	return stop
end

-- misfit says what is wrong with the header of protocol proto at byte at, which NPT 2 restores; nil
-- where nothing is, or where the packet is cut in front of what tells. INT ends elsewhere then. The
-- UDP length of a fragment is that of the whole datagram.
local function misfit(tvb, at, pinfo, proto)
	local left = left_of_udp(tvb, at)
	local least = ({ [6] = 20, [17] = 8 })[proto]
	if not left or not least or not pinfo.fragmented and not lengths_agree() then
		return nil
	elseif left < least then
		return "the packet has " .. left .. " bytes behind INT, too few for the header that NPT 2 restores"
	end
	local there = (left > tvb:len() - at and unpadded(tvb, at) or tvb:len()) - at
	if proto == 17 and not pinfo.fragmented and there >= 6 then
		local n = tvb(at + 4, 2):uint()
		if n ~= left then
			return "the UDP length behind INT is " .. n .. ", and the packet has " .. left .. " bytes there"
		end
	elseif proto == 6 and there > 12 then
		local n = tvb(at + 12, 1):bitfield(0, 4) * 4
		if n < 20 or n > left then
			return "the TCP header behind INT has " .. n .. " bytes by its Data Offset, and the packet has " .. left .. " there"
		end
	end
end

-- counts_shim, of a shim of 2.x at byte at, tells whether its Length counts the shim. Nothing
-- on the wire says so: it is a preference, and so it is in reports of Transparent
-- Security's code, unless the UDP header behind INT fits the other reading alone.
local in_transparent_security = false

local function counts_shim(tvb, at, words)
	if not in_transparent_security then
		return int.prefs.shim_inclusive
	end
	local function fits(udp)
		return udp + 6 <= tvb:len() and tvb(udp + 4, 2):uint() == left_of_udp(tvb, udp)
	end
	local behind = at + 4 + words * 4
	return tvb(at + 3, 1):uint() ~= 17 or not fits(behind) or fits(behind - 4)
end

-- shim_at reads the shim at byte at: kind, size of INT behind it, and whether it is one of INT
-- 1.0. The first byte of such a shim is the type, and its Length counts the shim itself.
local function shim_at(tvb, at)
	local first, second = tvb(at, 1):uint(), tvb(at + 1, 1):uint()
	if (first == 1 or first == 2) and second == 0 then
		local words = tvb(at + 2, 1):uint()
		return { old = true, kind = first == 1 and "v1" or "destination", size = words * 4 - shim_len }
	end
	local size = second * 4
	if counts_shim(tvb, at, second) then
		size = size - shim_len
	end
	return { kind = kinds[math.floor(first / 16)], size = size }
end

-- add_shim adds type and length, and what add_rest adds of the shim's last bytes.
local function add_shim(c, shim, add_rest)
	local tvb, pos = c.tvb, c.at * 8
	local item = c.tree:add(f.shim, tvb(c.at, shim_len))
	if shim.old then
		bits(item, f.type, tvb, pos, 8)
		bits(item, f.length, tvb, pos + 16, 8)
	else
		bits(item, f.type, tvb, pos, 4)
		bits(item, f.length, tvb, pos + 8, 8)
	end
	add_rest(item, tvb, pos)
	c.at = c.at + shim_len
end

-- add_int adds shim and INT at byte at. It returns the context and where INT
-- ends, nil where that is not known. out.proto, where add_rest sets it, is the protocol of the
-- header that NPT 2 restores.
local function add_int(tvb, at, pinfo, root, add_rest, out)
	if tvb:len() - at < shim_len then
		local c = context(tvb, at, pinfo, root, tvb:len() - at)
		too_short(c.tree, tvb, "the shim has " .. tvb:len() - at .. " of 4 bytes")
		return c, tvb:len()
	end
	local shim = shim_at(tvb, at)
	local c = context(tvb, at, pinfo, root, shim_len + math.max(shim.size, 0))
	c.old = shim.old
	add_shim(c, shim, add_rest)
	if not shim.kind then
		c.tree:add_proto_expert_info(malformed, "no such type")
		return c, nil
	end
	if shim.size < 0 then
		c.tree:add_proto_expert_info(malformed, "Length does not count the shim")
		return c, nil
	end
	if out.proto and c.at + shim.size <= tvb:len() then
		c.misfit = misfit(tvb, c.at + shim.size, pinfo, out.proto)
	end
	if c.misfit then
		c.tree:add_proto_expert_info(malformed, c.misfit .. "; see shim_length and the preference int.shim_inclusive")
	end
	local stop = add_body(c, shim.kind, shim.size)
	close(c)
	return c, stop
end

-- rest_of_transport_shim adds the shim's last two bytes by NPT and puts what
-- they say into out.
local function rest_of_transport_shim(out)
	return function(item, tvb, pos)
		local first = tvb(pos / 8, 1):uint()
		if first == 1 or first == 2 then -- INT 1.0
			bits(item, f.dscp, tvb, pos + 24, 6)
			out.npt = 0
			return
		end
		out.npt = bits(item, f.npt, tvb, pos + 4, 2)
		if out.npt == 0 then
			bits(item, f.dscp, tvb, pos + 24, 6)
		elseif out.npt == 1 then
			out.port = bits(item, f.udp_port, tvb, pos + 16, 16)
		elseif out.npt == 2 then
			out.proto = bits(item, f.ip_proto, tvb, pos + 24, 8)
		end
	end
end

-- undecoded leaves the rest, whose protocol is not known, as bytes.
local function undecoded(c, at)
	if at < c.tvb:len() then
		data:call(c.tvb(at):tvb(), c.pinfo, c.root)
	end
end

-- hand_to_port gives tvb[at:] to the dissectors of a UDP port, which see it as
-- the packet's own.
local function hand_to_port(c, port, at)
	local pinfo = c.pinfo
	local before = pinfo.dst_port
	pinfo.dst_port = port
	try(c.tvb, at, pinfo, c.root, { { udp_port, port }, { udp_port, pinfo.src_port } })
	pinfo.dst_port = before
end

-- hand_on gives what stands behind INT over a UDP port to who it was for.
local function hand_on(c, out, stop)
	if out.npt == 1 then
		hand_to_port(c, out.port, stop)
	elseif out.npt == 2 and not c.misfit and transports[out.proto] then
		try(c.tvb, stop, c.pinfo, c.root, { { ip_proto, out.proto } })
	else
		undecoded(c, stop)
	end
end

-- INT behind a UDP destination port.
local function by_port(tvb, pinfo, root)
	local out = {}
	local c, stop = add_int(tvb, 0, pinfo, root, rest_of_transport_shim(out), out)
	if not stop then
		return undecoded(c, shim_len)
	end
	if out.npt == 3 or out.npt == 0 and not c.old then
		c.tree:add_proto_expert_info(malformed, "NPT " .. out.npt .. " is not for a UDP port")
	end
	hand_on(c, out, stop)
end

function int.dissector(tvb, pinfo, root)
	if pinfo.match_uint ~= pinfo.dst_port then
		return 0 -- a table is also asked for the source port
	end
	local function run() by_port(tvb, pinfo, root) end
	return enter(tvb, pinfo, run) and tvb:len() or 0
end

local ip_dscp, ipv6_dscp = Field.new("ip.dsfield.dscp"), Field.new("ipv6.tclass.dscp")

-- agree tells whether a and b are the same in the bits of mask.
local function agree(a, b, mask)
	for n = 0, 15 do
		if asked(mask, n) and asked(a, n) ~= asked(b, n) then
			return false
		end
	end
	return true
end

-- marked_by_dscp tells whether the innermost IP header so far has the mark.
local function marked_by_dscp(pinfo)
	if not int.prefs.dscp_on then
		return false
	end
	local all = { (tostring(pinfo.net_src):find(":", 1, true) and ipv6_dscp or ip_dscp)() }
	local value, mask = int.prefs.dscp, int.prefs.dscp_mask
	local last = all[#all]
	return last ~= nil and mask > 0 and agree(last.value, value, mask)
end

-- marker_len is 8 where the probe marker stands in front.
local function marker_len(tvb)
	local want = int.prefs.probe_marker:gsub("^0[xX]", ""):lower()
	if #want ~= 16 or tvb:len() < 8 or tvb(0, 8):bytes():tohex():lower() ~= want then
		return 0
	end
	return 8
end

-- is_sound tells whether a shim over TCP or UDP and the header behind it agree:
-- a mark alone is a hint.
local function is_sound(tvb, at)
	if tvb:len() < at + shim_len + 1 then
		return false
	end
	local shim = shim_at(tvb, at)
	if not shim.kind or shim.size < 0 or not shim.old and tvb(at, 1):bitfield(4, 2) ~= 0 then
		return false
	end
	if at + shim_len + shim.size > tvb:reported_len() and not inside_report then
		return false
	end
	local h = headers[shim.kind]
	return not h and shim.size > 0 or h and shim.size >= h[1] and tvb(at + shim_len, 1):bitfield(0, 4) == h[2]
end

-- by_mark is a heuristic dissector; ports is the table for what stands behind.
local function by_mark(ports)
	return function(tvb, pinfo, root)
		local at = marker_len(tvb)
		if at == 0 and not marked_by_dscp(pinfo) or not is_sound(tvb, at) then
			return false
		end
		return enter(tvb, pinfo, function()
			local out = {}
			local c, stop = add_int(tvb, at, pinfo, root, rest_of_transport_shim(out), out)
			if at > 0 then
				c.tree:add(f.probe_marker, tvb(0, 8))
			end
			pinfo.can_desegment = 0 -- TCP would take offsets as its payload's
			try(tvb, stop or at + shim_len, pinfo, c.root, {
				{ ports, pinfo.dst_port }, { ports, pinfo.src_port },
			})
		end)
	end
end

-- rest_of_gre_shim: INT 2.1, section "INT over IPv4/GRE".
local function rest_of_gre_shim(out)
	return function(item, tvb, pos)
		flag(item, f.g, tvb, pos + 4)
		out.next = bits(item, f.ethertype, tvb, pos + 16, 16)
	end
end

function int_gre.dissector(tvb, pinfo, root)
	return enter(tvb, pinfo, function()
		local out = {}
		local c, stop = add_int(tvb, 0, pinfo, root, rest_of_gre_shim(out), out)
		if stop and out.next then
			try(tvb, stop, pinfo, c.root, { { gre_proto, out.next }, { ethertype, out.next } })
		else
			undecoded(c, shim_len)
		end
	end) and tvb:len() or 0
end

-- rest_of_gpe_shim: INT 2.1, section "INT over VXLAN GPE".
local function rest_of_gpe_shim(out)
	return function(item, tvb, pos)
		flag(item, f.g, tvb, pos + 16)
		out.next = bits(item, f.next_protocol, tvb, pos + 24, 8)
	end
end

function int_gpe.dissector(tvb, pinfo, root)
	return enter(tvb, pinfo, function()
		local out = {}
		local c, stop = add_int(tvb, 0, pinfo, root, rest_of_gpe_shim(out), out)
		if stop and out.next then
			try(tvb, stop, pinfo, c.root, { { gpe_next, out.next } })
		else
			undecoded(c, shim_len)
		end
	end) and tvb:len() or 0
end

-- Geneve's options have no table of dissectors: a post-dissector reads them from
-- the tree that Wireshark's own made.
local geneve_class = Field.new("geneve.option.class")

local geneve_option_len = 4

-- add_option adds the INT of the Geneve option at byte at of tvb: its type is
-- INT's, its length has five bits.
local function add_option(tvb, at, pinfo, root)
	if tvb:len() < at + geneve_option_len then
		return
	end
	local kind = kinds[tvb(at + 2, 1):uint()]
	local size = tvb(at + 3, 1):bitfield(3, 5) * 4
	local c = context(tvb, at, pinfo, root, geneve_option_len + size)
	local item = c.tree:add(f.shim, tvb(at, geneve_option_len)):set_text("Geneve Option Header")
	bits(item, f.type, tvb, (at + 2) * 8, 8)
	bits(item, f.length, tvb, (at + 3) * 8 + 3, 5)
	c.at = at + geneve_option_len
	if not kind then
		return c.tree:add_proto_expert_info(malformed, "no such type")
	end
	add_body(c, kind, size)
	c.tree:append_text(" in a Geneve option: " .. c.info)
end

function int_geneve.dissector(_, pinfo, root)
	for _, class in ipairs({ geneve_class() }) do
		if class.value == int.prefs.geneve_class and class.source then
			add_option(class.source, class.offset, pinfo, root)
		end
	end
end

-- IFA 2.0 (draft-kumar-ippm-ifa-08): behind IP a header, behind the original L4 header, or at the packet's end, metadata
-- header and stack. Without both the packet is as it was sent, L4's length and checksum, too.
ifa.header_len = 4
ifa.least = { [1] = 8, [6] = 20, [17] = 8, [47] = 4, [58] = 8 } -- of L4 headers

-- l4 is the size of the L4 header at byte at, nil where nothing tells it.
function ifa.l4(tvb, at, proto)
	local n = ifa.least[proto]
	if not n or at + n > tvb:len() then
		return nil
	elseif proto == 6 then
		local offset = tvb(at + 12, 1):bitfield(0, 4) * 4
		return offset >= n and offset or nil
	elseif proto == 47 then
		if tvb(at, 1):bitfield(1, 1) ~= 0 or tvb(at + 1, 1):bitfield(5, 3) ~= 0 then
			return nil -- routing, or another version
		end
		for _, bit in ipairs({ 0, 2, 3 }) do
			n = n + tvb(at, 1):bitfield(bit, 1) * 4
		end
	end
	return n
end

-- fits tells whether what is there of tvb[at:stop] can be hops of size bytes as Broadcom's switches write them: one namespace,
-- parts of a second, and a TTL that falls on the way.
function ifa.fits(tvb, at, stop, size)
	if at + size > tvb:len() then
		return false
	end
	local lns, ttl = tvb(at, 1):bitfield(0, 4), 0
	for hop = at, math.min(stop, tvb:len()) - size, size do
		local now = tvb(hop + 3, 1):uint()
		if tvb(hop, 1):bitfield(0, 4) ~= lns or now < ttl or tvb(hop + 12, 1):bitfield(0, 2) ~= 0 then
			return false
		end
		ttl = now
	end
	return true
end

function ifa.hop_size(tvb, at, stop, gns)
	for _, size in ipairs({ 32, 28, 20 }) do
		if gns == 15 and stop > at and (stop - at) % size == 0 and ifa.fits(tvb, at, stop, size) then
			return size
		end
	end
end

function ifa.add_hop(item, tvb, at, size)
	local pos, h = at * 8, ifa.hop
	bits(item, h.lns, tvb, pos, 4)
	local node = bits(item, hop_values.node_id, tvb, pos + 4, 20)
	bits(item, h.ttl, tvb, pos + 24, 8)
	bits(item, h.speed, tvb, pos + 32, 4)
	bits(item, h.congestion, tvb, pos + 36, 2)
	bits(item, hop_values.queue_id, tvb, pos + 38, 6)
	bits(item, h.seconds, tvb, pos + 44, 20)
	bits(item, hop_values.egress_interface_id, tvb, pos + 64, 16)
	bits(item, hop_values.ingress_interface_id, tvb, pos + 80, 16)
	bits(item, h.nanoseconds, tvb, pos + 96, 32)
	bits(item, hop_values.hop_latency, tvb, pos + 128, 32)
	bytes(item, h.opaque, tvb, at + 20, at + size)
	return node
end

-- add_stack adds the whole hops in tvb[at:stop]; those of another layout are bytes.
function ifa.add_stack(c, at, stop, gns)
	local size = ifa.hop_size(c.tvb, at, stop, gns)
	stop = math.min(stop, c.tvb:len())
	if not size then
		return bytes(c.tree, f.undecoded, c.tvb, at, stop)
	end
	local nodes = {}
	for hop = at, stop - size, size do
		local item = c.tree:add(f.hop, c.tvb(hop, size))
		nodes[#nodes + 1] = ifa.add_hop(item, c.tvb, hop, size)
		item:set_text("Hop " .. #nodes .. ", node " .. nodes[#nodes])
	end
	c.tree:add(f.hop_count, #nodes):set_generated()
	c.info = c.info .. " hops=" .. #nodes .. " nodes=" .. table.concat(nodes, ",")
end

-- add_metadata adds the metadata header at byte at, and returns the bytes of the stack.
function ifa.add_metadata(c, at)
	local item, pos = c.tree:add(f.header, c.tvb(at, ifa.header_len)), at * 8
	item:set_text("IFA Metadata Header")
	bits(item, ifa.request, c.tvb, pos, 8)
	flag(item, ifa.loss, c.tvb, pos + 8)
	flag(item, ifa.color, c.tvb, pos + 9)
	bits(item, ifa.hop_limit, c.tvb, pos + 16, 8)
	return bits(item, ifa.length, c.tvb, pos + 24, 8) * 4
end

-- add_options adds the headers of C and MF at byte at, and returns where they end.
function ifa.add_options(c, head, at)
	if head.c then
		bits(c.tree, ifa.checksum, c.tvb, at * 8, 16)
		at = at + 4
	end
	if head.mf then
		bits(c.tree, ifa.packet_id, c.tvb, at * 8, 26)
		bits(c.tree, ifa.fragment_id, c.tvb, at * 8 + 26, 5)
		flag(c.tree, ifa.last, c.tvb, at * 8 + 31)
		at = at + 4
	end
	return at
end

-- add_second adds what stands behind the L4 header, or at the packet's end, and returns where it begins and ends; nil where
-- that is not known.
function ifa.add_second(c, head)
	local tvb = c.tvb
	local l4 = ifa.l4(tvb, ifa.header_len, head.proto)
	if not l4 then
		return too_short(c.tree, tvb, "nothing says where the metadata header stands")
	elseif head.ts and (head.c or head.mf) then
		return c.tree:add_proto_expert_info(malformed, "TS stands beside C or MF")
	end
	local first = ifa.header_len + l4
	local at = first
	if head.ts then
		local stop = ip_end()
		at = (stop and stop - tvb:offset() or tvb:reported_len()) - ifa.header_len
	end
	local behind = at + (head.c and 4 or 0) + (head.mf and 4 or 0)
	if at < first or behind + ifa.header_len > tvb:len() then
		return too_short(c.tree, tvb, "the packet ends within IFA")
	end
	at = ifa.add_options(c, head, at)
	local size = ifa.add_metadata(c, at)
	local from, to = at + ifa.header_len, at + ifa.header_len + size
	if head.ts then
		from, to = at - size, at
	end
	if from < first or to > tvb:len() then
		too_short(c.tree, tvb, "Current Length says " .. size .. " bytes, which the packet has not")
		if from < first or not is_cut(tvb) then
			return nil
		end
	end
	ifa.add_stack(c, from, to, head.gns)
	if head.ts then
		return from, at + ifa.header_len
	end
	return first, math.min(to, tvb:len())
end

-- add_first adds the header behind IP.
function ifa.add_first(c)
	local tvb, item, head = c.tvb, c.tree:add(f.header, c.tvb(0, ifa.header_len)), {}
	item:set_text("IFA Header")
	bits(item, ifa.version, tvb, 0, 4)
	head.gns = bits(item, ifa.gns, tvb, 4, 4)
	head.proto = bits(item, f.ip_proto, tvb, 8, 8)
	bits(item, ifa.reserved, tvb, 16, 3)
	for n, name in ipairs({ "mf", "ts", "i", "ta", "c" }) do
		head[name] = flag(item, ifa[name], tvb, 18 + n)
	end
	bits(item, ifa.max_length, tvb, 24, 8)
	return head
end

function int_ifa.dissector(tvb, pinfo, root)
	if tvb:len() < ifa.header_len or tvb(0, 1):bitfield(0, 4) ~= 2 then
		return 0 -- the protocol is anybody's
	end
	return enter(tvb, pinfo, function()
		local c = context(tvb, 0, pinfo, root, ifa.header_len)
		local head = ifa.add_first(c)
		c.info = head.i and "IFA" or "IFA, copy or no I"
		local from, to = ifa.add_second(c, head)
		close(c)
		if not from then
			return undecoded(c, ifa.header_len)
		end
		local rest = tvb(ifa.header_len, from - ifa.header_len):bytes()
		if to < tvb:len() then
			rest = rest .. tvb(to):bytes()
		end
		try(rest:tvb("Packet without IFA"), 0, pinfo, c.root, { { ip_proto, head.proto } })
	end) and tvb:len() or 0
end

------------------------------------------------------------------- reports ---

local rep_types = { [0] = "Inner Only", [1] = "INT", [2] = "IOAM" }
local in_types = {
	[0] = "None", [1] = "TLV", [2] = "Domain Specific Extension Data",
	[3] = "Ethernet", [4] = "IPv4", [5] = "IPv6",
}
local tlv_types = { [0] = "Domain Specific Extension Data", [1] = "Ethernet", [2] = "IPv4", [3] = "IPv6" }
local nprot_names = { [0] = "Ethernet", [1] = "IPv4", [2] = "IPv6" }
local nproto_names = {
	[0] = "Ethernet", [1] = "Telemetry Drop header", [2] = "Telemetry Switch Local header",
}

local report_fields
report_fields, define = fields_of("int_report")
local r = {
	version = define("uint8", "version", "Ver", base.DEC, { [0] = "0.5", [1] = "1.0", [2] = "2.0" }),
	hw_id = define("uint8", "hw_id", "hw_id", base.DEC),
	sequence_number = define("uint32", "sequence_number", "Sequence Number", base.DEC),
	node_id = define("uint32", "node_id", "Node ID", base.DEC),
	count = define("uint32", "count", "Individual Reports", base.DEC),
	report = define("none", "report", "Individual Report"),
	rep_type = define("uint8", "rep_type", "RepType", base.DEC, rep_types),
	in_type = define("uint8", "in_type", "InType", base.DEC, in_types),
	report_length = define("uint8", "report_length", "Report Length", base.UNIT_STRING, { " words" }),
	md_length = define("uint8", "md_length", "MD Length", base.UNIT_STRING, { " words" }),
	d = define("bool", "d", "D: Dropped"),
	q = define("bool", "q", "Q: Congested Queue Association"),
	f = define("bool", "f", "F: Tracked Flow Association"),
	i = define("bool", "i", "I: Intermediate Report"),
	reserved = define("uint32", "reserved", "Reserved", base.HEX),
	rep_md_bits = define("uint16", "rep_md_bits", "RepMdBits", base.HEX),
	bits = bitmap_fields(define, "rep_md_bits", renamed({
		[0] = { "reserved_0", "Reserved" }, [15] = { "drop_reason", "Queue ID + Drop Reason" },
	})),
	domain = define("uint16", "domain", "Domain Specific ID", base.HEX),
	ds_md_bits = define("uint16", "ds_md_bits", "DSMdBits", base.HEX),
	ds_md_status = define("uint16", "ds_md_status", "DSMdstatus", base.HEX),
	ds_metadata = define("bytes", "ds_metadata", "Domain Specific Metadata"),
	ds_extension = define("bytes", "ds_extension", "Domain Specific Extension Data"),
	tlv = define("none", "tlv", "TLV"),
	tlv_type = define("uint8", "tlv.type", "TLVType", base.DEC, tlv_types),
	tlv_length = define("uint8", "tlv.length", "TLVLength", base.UNIT_STRING, { " words" }),
	tlv_template = define("uint16", "tlv.template", "TLV Data Template", base.HEX),
	tlv_data = define("bytes", "tlv.data", "TLV Data"),
	instance = define("uint64", "identity.instance", "Instance of the sink", base.HEX),
	began = define("absolute_time", "identity.began", "Sequence began", base.UTC),
	sequence = define("uint64", "identity.sequence", "Sequence", base.DEC),
	ts_time = define("absolute_time", "transparent_security.time", "Time", base.UTC),
	ts_count = define("uint32", "transparent_security.drop_count", "Drop Count", base.DEC),
	ts_key = define("bytes", "transparent_security.drop_key", "Drop Key"),
	undecoded = define("bytes", "undecoded", "Undecoded"),
	header_length = define("uint8", "v1.header_length", "Length", base.UNIT_STRING, { " words" }),
	nprot = define("uint8", "v1.nprot", "NProt", base.DEC, nprot_names),
	old_rep_md_bits = define("uint8", "v1.rep_md_bits", "RepMdBits", base.HEX),
	old_bits = bitmap_fields(define, "v1.rep_md_bits", {
		[0] = { "interfaces", "Ingress + Egress port id" }, { "hop_latency", "Hop latency" },
		{ "queue", "Queue ID + Queue occupancy" }, { "egress_timestamp", "Egress Timestamp" },
		{ "drop_reason", "Queue ID + Drop reason" }, { "tx_utilization", "Egress port tx utilization" },
	}),
	nproto = define("uint8", "v05.nproto", "NProto", base.DEC, nproto_names),
}
local report_values = value_fields(define, "", { node_id = true, checksum_complement = true })
report.fields = report_fields
report.experts = { report_malformed, report_cut }

local dissectors = {
	ethernet = Dissector.get("eth_withoutfcs"),
	ipv4 = Dissector.get("ip"),
	ipv6 = Dissector.get("ipv6"),
}
local by_in_type = { [3] = "ethernet", [4] = "ipv4", [5] = "ipv6" }
local by_tlv_type = { [1] = "ethernet", [2] = "ipv4", [3] = "ipv6" }
local by_nprot = { [0] = "ethernet", [1] = "ipv4", [2] = "ipv6" }

-- report_short says that the payload ends before its lengths do.
local function report_short(c, tree, text)
	local expert_info = c.tvb:len() < c.tvb:reported_len() and report_cut or report_malformed
	tree:add_proto_expert_info(expert_info, text)
end

-- add_packet gives the packet in tvb[at:stop] to its dissector. It is most often
-- cut short, like that of an ICMP error, and its addresses are not this frame's.
local function add_packet(c, tree, kind, at, stop)
	if stop <= at then
		return
	end
	local pinfo = c.pinfo
	local src, dst = pinfo.src, pinfo.dst
	local src_port, dst_port = pinfo.src_port, pinfo.dst_port
	local before = inside_report
	inside_report = tree
	pcall(function() dissectors[kind]:call(c.tvb(at, stop - at):tvb(), pinfo, tree) end)
	inside_report = before
	pinfo.src, pinfo.dst = src, dst
	pinfo.src_port, pinfo.dst_port = src_port, dst_port
end

-- add_identity adds which sink sent the packet.
local function add_identity(item, tvb, at)
	item:set_text("TLV: Identity of the sink")
	item:add(r.instance, tvb(at, 8))
	local began = tvb(at + 8, 8):uint64()
	item:add(r.began, tvb(at + 8, 8), NSTime((began / 1000000000):tonumber(), (began % 1000000000):tonumber()))
	item:add(r.sequence, tvb(at + 16, 8))
end

-- add_tlv adds the TLV at byte at and returns where it ends.
local function add_tlv(c, tree, at, stop)
	local tvb = c.tvb
	if stop - at < 4 then
		report_short(c, tree, "TLV header: " .. stop - at .. " of 4 bytes")
		return stop
	end
	local size = tvb(at + 1, 1):uint() * 4
	local last = math.min(at + 4 + size, stop)
	local item = tree:add(r.tlv, tvb(at, last - at))
	local kind = bits(item, r.tlv_type, tvb, at * 8, 4)
	bits(item, r.tlv_length, tvb, at * 8 + 8, 8)
	bits(item, r.tlv_template, tvb, at * 8 + 16, 16)
	item:set_text("TLV: " .. (tlv_types[kind] or "reserved type " .. kind))
	if at + 4 + size > stop then
		report_short(c, item, "TLVLength says " .. size .. " bytes, " .. stop - at - 4 .. " are there")
	end
	if by_tlv_type[kind] then
		add_packet(c, item, by_tlv_type[kind], at + 4, last)
	elseif kind == 0 and tvb(at + 2, 2):uint() == 0x4944 and last - at == 28 then
		add_identity(item, tvb, at + 4)
	else
		bytes(item, r.tlv_data, tvb, at + 4, last)
	end
	return last
end

-- add_inner adds the inner contents tvb[at:stop].
local function add_inner(c, tree, in_type, at, stop)
	if by_in_type[in_type] then
		return add_packet(c, tree, by_in_type[in_type], at, stop)
	end
	if in_type == 1 then
		while at < stop do
			at = add_tlv(c, tree, at, stop)
		end
		return
	end
	if in_type == 0 and at < stop then
		tree:add_proto_expert_info(report_malformed, "InType says none, " .. stop - at .. " bytes are there")
	end
	bytes(tree, in_type == 2 and r.ds_extension or r.undecoded, c.tvb, at, stop)
end

local main_len = 8

-- add_main adds the fixed part of the main contents of RepType 1 and returns
-- RepMdBits.
local function add_main(tree, tvb, at)
	local pos = at * 8
	local map = add_bitmap(tree, r.rep_md_bits, r.bits, tvb, pos, 16)
	bits(tree, r.domain, tvb, pos + 16, 16)
	bits(tree, r.ds_md_bits, tvb, pos + 32, 16)
	bits(tree, r.ds_md_status, tvb, pos + 48, 16)
	return map
end

-- add_metadata adds main contents and metadata of RepType 1 in tvb[at:stop] and
-- returns where the inner contents begin.
local function add_metadata(c, tree, md_words, at, stop)
	if stop - at < main_len then
		report_short(c, tree, "main contents of INT: " .. stop - at .. " of 8 bytes")
		bytes(tree, r.undecoded, c.tvb, at, stop)
		return stop
	end
	local map = add_main(tree, c.tvb, at)
	at = at + main_len
	local size = md_words * 4
	if at + size > stop then
		report_short(c, tree, "MD Length says " .. size .. " bytes, " .. stop - at .. " are there")
	end
	local last = math.min(at + size, stop)
	local need = map_size(report_bits, map)
	if need > size then
		tree:add_proto_expert_info(report_malformed, "MD Length says " .. size .. " bytes, RepMdBits ask for " .. need)
	end
	local behind = add_values(tree, report_values, report_bits, map, c.tvb, at, last)
	bytes(tree, r.ds_metadata, c.tvb, behind, last)
	return last
end

-- transparent_security_kind: the code of Transparent Security writes RepType 0 and main
-- contents nevertheless, and behind these a word of metadata. "packet": a word of zeros and
-- an Ethernet frame. "drop": a drop reason, a time, a number of packets, a key.
local function transparent_security_kind(tvb, at, rep_type, in_type)
	local behind = at + 4 + main_len + 4
	if rep_type ~= 0 or tvb:len() < behind + 14 or tvb(at + 6, 2):uint() ~= transparent_security then
		return nil
	end
	local map = tvb(at + 4, 2):uint()
	if in_type == 2 and map == 1 and tvb(at + 8, 4):uint() == 0 and tvb:len() >= behind + 24 then
		return "drop"
	end
	local ether, version = tvb(behind + 12, 2):uint(), math.floor(map / 4096)
	if version == 4 or version == 6 or tvb(behind - 4, 4):uint() ~= 0 then
		return nil
	end
	local ip = tvb:len() > behind + 14 and tvb(behind + 14, 1):bitfield(0, 4)
	if ether == 0x0800 and (not ip or ip == 4) or ether == 0x86dd and (not ip or ip == 6) then
		return "packet"
	end
end

-- add_transparent_security_frame adds the frame in tvb[at:]. Over IPv6 with TCP its IPv6
-- header says TCP where the UDP header of INT stands: a copy says UDP.
local function add_transparent_security_frame(c, tree, at)
	local tvb, shim = c.tvb, at + 14 + 40 + 8
	local frame = tvb(at):bytes()
	local swap = tvb:len() > shim + 4 and tvb(at + 12, 2):uint() == 0x86dd and tvb(at + 20, 1):uint() == 6
		and tvb(shim, 1):uint() == 0x18 and tvb(shim + 4, 1):bitfield(0, 4) == 2
	in_transparent_security = true
	if swap then
		frame:set_index(20, 17)
		local copy = { tvb = frame:tvb("Frame with UDP behind IPv6"), pinfo = c.pinfo }
		add_packet(copy, tree, "ethernet", 0, copy.tvb:len())
	else
		add_packet(c, tree, "ethernet", at, tvb:len())
	end
	in_transparent_security = false
end

-- add_transparent_security adds what is behind the first word of such a report at byte at.
local function add_transparent_security(c, tree, kind, at)
	local tvb = c.tvb
	local map = add_main(tree, tvb, at + 4)
	if kind == "packet" then
		bytes(tree, r.ds_metadata, tvb, at + 12, at + 16)
		return add_transparent_security_frame(c, tree, at + 16)
	end
	add_values(tree, report_values, report_bits, map, tvb, at + 12, at + 16)
	tree:add(r.ts_time, tvb(at + 16, 4), NSTime.new(tvb(at + 16, 4):uint(), 0))
	bits(tree, r.ts_count, tvb, (at + 20) * 8, 32)
	bytes(tree, r.ts_key, tvb, at + 24, at + 40)
	bytes(tree, r.ds_extension, tvb, at + 40, tvb:len())
end

-- add_first_word adds an individual report's first word.
local function add_first_word(tree, tvb, at)
	local pos = at * 8
	local rep_type = bits(tree, r.rep_type, tvb, pos, 4)
	local in_type = bits(tree, r.in_type, tvb, pos + 4, 4)
	bits(tree, r.report_length, tvb, pos + 8, 8)
	local md_words = bits(tree, r.md_length, tvb, pos + 16, 8)
	for n, field in ipairs({ r.d, r.q, r.f, r.i }) do
		flag(tree, field, tvb, pos + 23 + n)
	end
	bits(tree, r.reserved, tvb, pos + 28, 4)
	return rep_type, in_type, md_words
end

-- add_contents adds what is behind an individual report's first word.
local function add_contents(c, tree, rep_type, in_type, md_words, at, stop)
	if rep_type == 0 then
		add_inner(c, tree, in_type, at, stop)
	elseif rep_type == 1 then
		at = add_metadata(c, tree, md_words, at, stop)
		add_inner(c, tree, in_type, at, stop)
	else
		bytes(tree, r.undecoded, c.tvb, at, stop)
	end
end

-- add_individual adds the individual report at byte at and returns where it ends.
local function add_individual(c, number, at)
	local tvb, total = c.tvb, c.tvb:len()
	if total - at < 4 then
		report_short(c, c.tree, "individual report: " .. total - at .. " of 4 bytes")
		return total
	end
	local words = tvb(at + 1, 1):uint()
	local stop = at + 4 + words * 4
	local size = math.min(words == 255 and total or stop, total) - at
	local item = c.tree:add(r.report, tvb(at, size))
	local rep_type, in_type, md_words = add_first_word(item, tvb, at)
	item:set_text("Individual Report " .. number .. ": " .. (rep_types[rep_type] or "reserved")
		.. ", " .. (in_types[in_type] or "reserved"))
	local kind = transparent_security_kind(tvb, at, rep_type, in_type)
	if kind then
		add_transparent_security(c, item, kind, at)
		return total
	end
	if stop > total then
		report_short(c, item, "Report Length says " .. words * 4 .. " bytes, " .. total - at - 4 .. " are there")
	end
	add_contents(c, item, rep_type, in_type, md_words, at + 4, at + size)
	return at + size
end

-- Telemetry Report 2.0.
local function add_group(c)
	local tvb = c.tvb
	if tvb:len() < 8 then
		return report_short(c, c.tree, "group header: " .. tvb:len() .. " of 8 bytes")
	end
	bits(c.tree, r.version, tvb, 0, 4)
	bits(c.tree, r.hw_id, tvb, 4, 6)
	c.sequence = bits(c.tree, r.sequence_number, tvb, 10, 22)
	c.node = bits(c.tree, r.node_id, tvb, 32, 32)
	if tvb:len() == 8 then
		report_short(c, c.tree, "no individual report behind the group header")
	end
	local at, n = 8, 0
	while at < tvb:len() do
		n = n + 1
		at = add_individual(c, n, at)
	end
	c.tree:add(r.count, n):set_generated()
	c.info = "Telemetry Report 2.0, node=" .. c.node .. " sequence=" .. c.sequence .. " reports=" .. n
end

-- Telemetry Report 1.0: all of it in one header.
local function add_v1(c)
	local tvb, tree = c.tvb, c.tree
	if tvb:len() < 16 then
		return report_short(c, tree, "version 1.0 header: " .. tvb:len() .. " of 16 bytes")
	end
	bits(tree, r.version, tvb, 0, 4)
	local size = bits(tree, r.header_length, tvb, 4, 4) * 4
	local nprot = bits(tree, r.nprot, tvb, 8, 3)
	local map = add_bitmap(tree, r.old_rep_md_bits, r.old_bits, tvb, 11, 6) * 2 ^ 10
	bits(tree, r.reserved, tvb, 17, 6)
	flag(tree, r.d, tvb, 23)
	flag(tree, r.q, tvb, 24)
	flag(tree, r.f, tvb, 25)
	bits(tree, r.hw_id, tvb, 26, 6)
	c.node = bits(tree, r.node_id, tvb, 32, 32)
	c.sequence = bits(tree, r.sequence_number, tvb, 64, 32)
	add_values(tree, report_values, { [0] = word("ingress_timestamp") }, 0x8000, tvb, 12, 16)
	c.info = "Telemetry Report 1.0, node=" .. c.node .. " sequence=" .. c.sequence
	local need = 16 + map_size(old_report_bits, map)
	if size < need then
		tree:add_proto_expert_info(report_malformed, "Length says " .. size .. " bytes, RepMdBits ask for " .. need)
		return bytes(tree, r.undecoded, tvb, 16, tvb:len())
	end
	if size > tvb:len() then
		report_short(c, tree, "Length says " .. size .. " bytes, " .. tvb:len() .. " are there")
	end
	local stop = math.min(size, tvb:len())
	local behind = add_values(tree, report_values, old_report_bits, map, tvb, 16, stop)
	bytes(tree, r.undecoded, tvb, behind, stop)
	if by_nprot[nprot] then
		add_packet(c, tree, by_nprot[nprot], stop, tvb:len())
	else
		bytes(tree, r.undecoded, tvb, stop, tvb:len())
	end
end

-- What stands behind the switch id in the two optional headers of version 0.5.
local v05_headers = {
	[1] = { [0] = interfaces, drop },
	[2] = { [0] = interfaces, queue, word("egress_timestamp") },
}

-- add_v05_header adds the drop or switch local header at byte 12 and returns
-- where the frame begins, nil where the header is not all there.
local function add_v05_header(c, nproto)
	local meaning = v05_headers[nproto]
	if not meaning then
		return 12
	end
	local size = 4 + map_size(meaning, 0xe000)
	if c.tvb:len() < 12 + size then
		report_short(c, c.tree, "version 0.5 header: " .. c.tvb:len() - 12 .. " of " .. size .. " bytes")
		return nil
	end
	c.node = bits(c.tree, r.node_id, c.tvb, 96, 32)
	return add_values(c.tree, report_values, meaning, 0xe000, c.tvb, 16, 12 + size)
end

-- Telemetry Report 0.5: a fixed header, an optional one, an Ethernet frame.
local function add_v05(c)
	local tvb, tree = c.tvb, c.tree
	if tvb:len() < 12 then
		return report_short(c, tree, "version 0.5 header: " .. tvb:len() .. " of 12 bytes")
	end
	bits(tree, r.version, tvb, 0, 4)
	local nproto = bits(tree, r.nproto, tvb, 4, 4)
	flag(tree, r.d, tvb, 8)
	flag(tree, r.q, tvb, 9)
	flag(tree, r.f, tvb, 10)
	bits(tree, r.reserved, tvb, 11, 15)
	bits(tree, r.hw_id, tvb, 26, 6)
	c.sequence = bits(tree, r.sequence_number, tvb, 32, 32)
	add_values(tree, report_values, { [0] = word("ingress_timestamp") }, 0x8000, tvb, 8, 12)
	c.info = "Telemetry Report 0.5, sequence=" .. c.sequence
	if nproto > 2 then
		tree:add_proto_expert_info(report_malformed, "no such NProto")
		return bytes(tree, r.undecoded, tvb, 12, tvb:len())
	end
	local at = add_v05_header(c, nproto)
	if at then
		add_packet(c, tree, "ethernet", at, tvb:len())
	end
end

local versions = { [0] = add_v05, [1] = add_v1, [2] = add_group }

-- add_report adds the report packet tvb, whatever its version.
local function add_report(tvb, pinfo, root)
	local c = { tvb = tvb, pinfo = pinfo, tree = root:add(report, tvb()), info = "Telemetry Report" }
	local version = tvb(0, 1):bitfield(0, 4)
	if versions[version] then
		versions[version](c)
	else
		c.tree:add_proto_expert_info(report_malformed, "no such version: " .. version)
		bytes(c.tree, r.undecoded, tvb, 0, tvb:len())
	end
	pinfo.cols.protocol = "INT-REPORT"
	pinfo.cols.info = c.info
end

function report.dissector(tvb, pinfo, root)
	if pinfo.match_uint ~= pinfo.dst_port then
		return 0
	end
	return enter(tvb, pinfo, function() add_report(tvb, pinfo, root) end) and tvb:len() or 0
end

-------------------------------------------------------------- registration ---

int.prefs.udp_port = Pref.range("UDP ports", "5000",
	"UDP destination ports behind which INT stands (Transparent Security's code uses 555)", 65535)
int.prefs.dscp_on = Pref.bool("DSCP marks INT", false, "INT over TCP and UDP in packets with the DSCP below")
int.prefs.dscp = Pref.uint("DSCP", 23, "value of DSCP that marks INT")
int.prefs.dscp_mask = Pref.uint("DSCP mask", 63, "bits of DSCP to compare; 63 is all of them")
int.prefs.probe_marker = Pref.string("Probe marker", "",
	"16 hexadecimal digits in front of INT over TCP and UDP; empty is none")
int.prefs.gre_protocol = Pref.uint("GRE protocol", 0x88b6, "protocol of GRE that means INT; not assigned")
int.prefs.vxlan_gpe_next_protocol = Pref.uint("VXLAN-GPE next protocol", 0x82, "next protocol that means INT")
int.prefs.shim_inclusive = Pref.bool("Length counts the shim", false,
	"the Length of shims of INT 2.x counts the shim, as Transparent Security's switches write it")
int.prefs.ifa_protocol = Pref.uint("IFA protocol", 253, "IP protocol that means IFA 2.0; 131 in scapy's layer")
int.prefs.geneve_class = Pref.uint("Geneve option class", 0x0103, "class of Geneve options that hold INT")
report.prefs.udp_port = Pref.range("UDP ports", "8555",
	"UDP destination ports of telemetry reports (Transparent Security's code uses 556)", 65535)

-- follow keeps table in step with a preference.
local function follow(proto, name, table, dissector)
	local current
	return function()
		local wanted = proto.prefs[name]
		if wanted == current then
			return
		end
		if current ~= nil and current ~= "" then
			table:remove(current, dissector)
		end
		if wanted ~= "" then
			table:add(wanted, dissector)
		end
		current = wanted
	end
end

local follow_port = follow(int, "udp_port", udp_port, int)
local follow_gre = follow(int, "gre_protocol", gre_proto, int_gre)
local follow_gpe = follow(int, "vxlan_gpe_next_protocol", gpe_next, int_gpe)
local follow_ifa = follow(int, "ifa_protocol", ip_proto, int_ifa)
local follow_report = follow(report, "udp_port", udp_port, report)

local function follow_all()
	follow_port()
	follow_gre()
	follow_gpe()
	follow_ifa()
end

int.prefs_changed = follow_all
report.prefs_changed = follow_report
follow_all()
follow_report()
int:register_heuristic("udp", by_mark(udp_port))
int:register_heuristic("tcp", by_mark(tcp_port))
register_postdissector(int_geneve)
