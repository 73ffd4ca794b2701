// DropReasons: the names of drop reason codes in reports.

package report

// DropReasons names the drop reasons that all versions of the specification give
// as their example of an enumeration: p4lang/switch,
// p4src/includes/drop_reason_codes.h. Codes without a name there are the node's
// own, as any may be.
var DropReasons = [256]string{
	0: "unknown",

	10: "outer_src_mac_zero",
	11: "outer_src_mac_multicast",
	12: "outer_dst_mac_zero",
	13: "outer_ethernet_miss",
	14: "src_mac_zero",
	15: "src_mac_multicast",
	16: "dst_mac_zero",

	25: "outer_ip_version_invalid",
	26: "outer_ip_ttl_zero",
	27: "outer_ip_src_multicast",
	28: "outer_ip_src_loopback",
	29: "outer_ip_miss",
	30: "ip_version_invalid",
	31: "ip_ttl_zero",
	32: "ip_src_multicast",
	33: "ip_src_loopback",

	40: "port_vlan_mapping_miss",
	41: "stp_state_learning",
	42: "stp_state_blocking",
	43: "same_ifindex",
	44: "multicast_snooping_enabled",

	50: "mtu_check_fail",
	51: "traffic_manager",

	60: "acl_deny",
	61: "racl_deny",
	62: "urpf_check_fail",
	63: "ipsg_miss",
	64: "ifindex",
}
