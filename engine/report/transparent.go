package report

// TransparentSecurityID is the Domain Specific ID of Transparent Security, "TS".
const TransparentSecurityID = 0x5453
