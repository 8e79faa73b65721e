public import Model

/// `a=candidate` (RFC 8839 §5.1): an address at which one side may be reached.
public struct CandidateAttribute: Equatable, Sendable {
  public struct Extension: Equatable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What can be done with a candidate.
  public enum Use: Equatable, Sendable {
    /// Datagrams can be sent there.
    case udp(SocketAddress)
    case unusable(Reason)
  }
  public enum Reason: Equatable, Sendable {
    /// TCP or something newer.
    case transport
    /// A name instead of an address: mDNS, or one for a resolver.
    case hostName
    /// RTCP on a port of its own, which rtcp-mux rules out.
    case component
    case port
  }

  /// 1–32 characters, equal for candidates of one base and kind.
  public var foundation: String
  /// 1–256; 1 is RTP.
  public var component: UInt16
  /// In lower case.
  public var transport: String
  public var priority: UInt32
  /// An IP address or a host name, such as the `.local` ones of mDNS.
  public var address: String
  public var port: UInt16
  /// `host`, `srflx`, `prflx`, `relay` or another token.
  public var type: String
  public var relatedAddress: String?
  public var relatedPort: UInt16?
  public var extensions: [Extension]

  public init(
    foundation: String, component: UInt16 = 1, transport: String = "udp", priority: UInt32, address: String,
    port: UInt16, type: String = "host", relatedAddress: String? = nil, relatedPort: UInt16? = nil,
    extensions: [Extension] = []
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.port = port
    self.type = type
    self.relatedAddress = relatedAddress
    self.relatedPort = relatedPort
    self.extensions = extensions
  }

  /// A host candidate for UDP.
  /// - Parameter rank: 0 for the address to be preferred, counting up.
  public init(host address: SocketAddress, rank: Int) {
    // RFC 8445 §5.1.2.1: 126 is the recommended type preference of host candidates.
    let localPreference = UInt32(65_535 - min(max(rank, 0), 65_535))
    self.init(
      foundation: "\(rank + 1)", priority: 126 << 24 | localPreference << 8 | 255, address: address.host,
      port: address.port)
  }

  /// Reads a candidate as signalling carries it, with or without `a=` and `candidate:` in front.
  public init?(parsing text: String) {
    guard text.utf8.count <= 1024 else { return nil }
    var rest = text[...]
    for prefix in ["a=", "candidate:"] where rest.utf8.starts(with: prefix.utf8) {
      rest = rest[rest.utf8.index(rest.startIndex, offsetBy: prefix.utf8.count)...]
    }
    guard rest.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    self.init(value: rest)
  }

  public var use: Use {
    guard transport == "udp" else { return .unusable(.transport) }
    guard component == 1 else { return .unusable(.component) }
    guard port != 0 else { return .unusable(.port) }
    guard let address = SocketAddress(host: address, port: port) else { return .unusable(.hostName) }
    return .udp(address)
  }
}

extension CandidateAttribute: SDPValue {
  static var grammar: String {
    "<foundation> <component> <transport> <priority> <address> <port> typ <type> [<name> <value> …]"
  }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let foundation = fields.next(), foundation.isICEText(1...32),
      let component = fields.nextNumber(UInt16.self), (1...256).contains(component),
      let transport = fields.next(), transport.isToken,
      let priority = fields.nextNumber(UInt32.self),
      let address = fields.next(), address.utf8.count <= 255, address.isHostOrAddress,
      let port = fields.nextNumber(UInt16.self),
      fields.next() == "typ", let type = fields.next(), type.isToken
    else { return nil }
    self.init(
      foundation: String(foundation), component: component, transport: transport.lowercased(),
      priority: priority,
      address: String(address), port: port, type: String(type))

    while let name = fields.next() {
      guard let value = fields.next() else { return nil }
      switch name {
      case "raddr" where relatedAddress == nil: relatedAddress = String(value)
      case "rport" where relatedPort == nil:
        guard let port = value.decimal(UInt16.self) else { return nil }
        relatedPort = port
      default: extensions.append(Extension(name: String(name), value: String(value)))
      }
    }
  }

  public var value: String {
    var text = "\(foundation) \(component) \(transport) \(priority) \(address) \(port) typ \(type)"
    if let relatedAddress { text += " raddr \(relatedAddress)" }
    if let relatedPort { text += " rport \(relatedPort)" }
    for item in extensions { text += " \(item.name) \(item.value)" }
    return text
  }
}

extension Substring {
  fileprivate var isHostOrAddress: Bool {
    !utf8.isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x25, 0x2D, 0x2E, 0x30...0x3A, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
      }
  }
}
