public import Model

/// Every option with its value; a fresh one has the defaults. `ConfigurationSchema` names and explains them.
public struct Configuration: Equatable, Sendable {
  public struct HTTP: Equatable, Sendable {
    public var port = 7880
    /// Where clients reach the server; empty: by the name by which they have reached it.
    public var url = ""
    /// Their ports are 0; `port` goes with each.
    public var addresses = [
      SocketAddress(ipv4: 0, 0, 0, 0, port: 0), SocketAddress(high: 0, low: 0, port: 0),
    ]
    public var connections = 4096
    public var connectionsPerAddress = 1024
    public var streams = 2000
    public var streamsPerAddress = 1000
    public var trustedProxies: [AddressPrefix] = []
    public var headSeconds = 10
    public var bodySeconds = 20
    public var bodyBytes = 1_048_576
    public var messageBytes = 262_144
    /// Whose pages may ask; `*`: all.
    public var origins = ["*"]
    /// Paths of PEM files; both empty: no TLS.
    public var certificate = ""
    public var privateKey = ""
  }

  public struct Admin: Equatable, Sendable {
    public var port = 7889
    /// Their ports are 0; `port` goes with each.
    public var addresses = [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)]
  }

  public struct Drain: Equatable, Sendable {
    public var seconds = 60
  }

  public struct Reconnect: Equatable, Sendable {
    public var seconds = 15
  }

  public struct STUN: Equatable, Sendable {
    public var urls: [String] = []
  }

  public struct TURN: Equatable, Sendable {
    public var urls: [String] = []
    public var secret = ""
    /// Seconds.
    public var lifetime = 86_400
  }

  public struct Media: Equatable, Sendable {
    /// What clients get to know of the server's addresses of one family.
    public enum Advertised: Equatable, Sendable {
      /// Those that the interfaces have, of them those that media is bound to.
      case interfaces
      case addresses([SocketAddress])
      /// The family isn't used.
      case none
    }

    public struct Advertise: Equatable, Sendable {
      public var ipv4 = Advertised.interfaces
      public var ipv6 = Advertised.interfaces
    }

    public var port = 7882
    /// Empty: all that the host has.
    public var addresses: [SocketAddress] = []
    /// 0: one for each processor core.
    public var workers = 0
    public var advertise = Advertise()
    public var receiveBufferBytes = 4_194_304
    public var sendBufferBytes = 4_194_304
    /// The preferred first; at least one, all of video.
    public var codecs: [Codec] = [.vp8, .vp9, .h264, .h265, .av1]
    /// Bits per second.
    public var publisherMaxBitrate = 3_000_000
    /// 0: a worker waits for nothing.
    public var gatherMicroseconds = 500
  }

  public struct ICE: Equatable, Sendable {
    /// When the server checks for itself that an address answers, before media goes to it.
    public enum Verify: String, CaseIterable, Sendable {
      case always
      case onChange
    }

    public var verify = Verify.always
  }

  public struct Log: Equatable, Sendable {
    public enum Level: String, CaseIterable, Comparable, Sendable {
      case debug
      case info
      case warning
      case error

      public static func < (a: Self, b: Self) -> Bool {
        (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
      }
    }

    public var level = Level.info
  }

  public struct Rooms: Equatable, Sendable {
    /// Whether one is made for the first who comes.
    public var create = true
    /// Whether who joins waits until a host lets them in.
    public var admission = false
    /// Seconds.
    public var emptyTimeout = 300
    public var departureTimeout = 20
    public var removalMemory = 2_592_000
  }

  public struct Limits: Equatable, Sendable {
    public var peers = 1000
    public var rooms = 10_000
    public var participants = 10_000
    public var participantsPerRoom = 1_000
    public var tracksPerParticipant = 32
    public var sectionsPerTransport = 128
    /// A second, and at once.
    public var requestsPerAddress = 200
    public var requestsAtOncePerAddress = 2_000
  }

  /// Who is sent every event.
  public struct Webhooks: Equatable, Sendable {
    public var urls: [String] = []
    /// Path of a PEM file; empty: those of the system.
    public var authorities = ""
    /// Of events that are kept for receivers.
    public var heldBytes = 1_073_741_824
  }

  /// What is kept of sessions that failed.
  public struct Flights: Equatable, Sendable {
    /// Empty: nothing is.
    public var directory = ""
    public var files = 100
    /// Of all of them together.
    public var bytes = 67_108_864
  }

  /// Where it is kept what is to outlive the process.
  public struct Storage: Equatable, Sendable {
    /// Empty: `productionDirectory`, or memory with `--dev`.
    public var directory = ""
    /// A connection string, which may have a password; empty: SQLite.
    public var postgresql = ""

    public static let productionDirectory = "/var/lib/roost"

    /// The directory for files beside the records, which are made also where the records are in a database.
    /// - Returns: nil: there is none.
    public func filesDirectory(development: Bool) -> String? {
      directory.isEmpty ? development ? nil : Self.productionDirectory : directory
    }
  }

  /// What is kept of recordings, below the storage's directory.
  public struct Recording: Equatable, Sendable {
    /// In all rooms.
    public var atOnce = 16
    /// Of one recording.
    public var bytes = 17_179_869_184
    /// That stay free on the disk.
    public var freeBytes = 1_073_741_824
    public var kept = 10_000
  }

  public var http = HTTP()
  public var admin = Admin()
  public var media = Media()
  public var ice = ICE()
  public var stun = STUN()
  public var turn = TURN()
  /// API key → secret.
  public var keys: [String: String] = [:]
  /// Where each API key was given, for what is wrong with its secret.
  var keySources: [String: ConfigurationError.Source] = [:]
  public var log = Log()
  public var rooms = Rooms()
  public var limits = Limits()
  public var drain = Drain()
  public var reconnect = Reconnect()
  public var flights = Flights()
  public var storage = Storage()
  public var recording = Recording()
  public var webhooks = Webhooks()
  public var calls = Calls()
  public var push = Push()
  /// Variables of the environment that begin with `ROOST_` and set nothing, to be reported.
  public internal(set) var ignoredVariables: [String] = []

  public init() {}
}

extension Configuration {
  /// The key pair that `--dev` uses; known to everybody, hence only for one's own machine.
  public static let developmentKey = (key: "devkey", secret: "secret")
  /// Bytes below which a secret can be guessed; HS256 wants as many as its hash has (RFC 7518 §3.2).
  public static let minimumSecretBytes = 32

  /// What `--dev` changes: the known key pair alone, and HTTP on this machine only, in clear.
  public mutating func applyDevelopment() {
    keys = [Self.developmentKey.key: Self.developmentKey.secret]
    http.addresses = [SocketAddress(ipv4: 127, 0, 0, 1, port: 0), SocketAddress(high: 0, low: 1, port: 0)]
    http.certificate = ""
    http.privateKey = ""
    calls.directory = .open
  }

  /// What `--dev --lan` changes: HTTP on all addresses, under a certificate made at start unless files are given,
  /// and a random secret.
  /// - Parameter secret: fresh and random.
  public mutating func applyDevelopment(lanSecret secret: String) {
    let (certificate, privateKey) = (http.certificate, http.privateKey)
    applyDevelopment()
    keys = [Self.developmentKey.key: secret]
    http.addresses = Self().http.addresses
    http.certificate = certificate
    http.privateKey = privateKey
  }

  /// Refuses one of the two files of TLS without the other.
  public func requireWholeTLS() throws(ConfigurationError) {
    guard http.certificate.isEmpty != http.privateKey.isEmpty else { return }
    let missing = http.certificate.isEmpty ? "http.certificate" : "http.privateKey"
    throw ConfigurationError(
      source: .defaults, option: missing, problem: .missing,
      expected: "both PEM files, http.certificate and http.privateKey, or neither")
  }

  /// Refuses TURN servers without the secret that they share with this one.
  public func requireWholeTURN() throws(ConfigurationError) {
    guard !turn.urls.isEmpty, turn.secret.isEmpty else { return }
    throw ConfigurationError(
      source: .defaults, option: "turn.secret", problem: .missing,
      expected: "the secret of the servers in turn.urls, coturn's static-auth-secret")
  }

  /// Where webhooks go, each with the API key that signs.
  /// - Throws: where a URL names none that there is, or names none and there are several.
  public func webhookTargets() throws(ConfigurationError) -> [(url: String, key: String)] {
    var targets: [(url: String, key: String)] = []
    for target in webhooks.urls.compactMap({ WebhookURL($0) }) {
      targets.append((target.url, try key(of: target, option: "webhooks.urls")))
    }
    return targets
  }

  /// Refuses a start without key or with a secret that can be guessed.
  public func requireProductionKeys() throws(ConfigurationError) {
    guard !keys.isEmpty else {
      throw ConfigurationError(
        source: .defaults, option: "keys", problem: .missing,
        expected:
          "at least one API key with its secret, as in keys: { myKey: \"…32 bytes or more…\" } in the "
          + "configuration or ROOST_KEYS=myKey:… in the environment, or --dev to try it out on this machine")
    }
    for (key, secret) in keys.sorted(by: { $0.key < $1.key })
    where secret.utf8.count < Self.minimumSecretBytes {
      throw ConfigurationError(
        source: keySources[key] ?? .defaults, option: "keys.\(key)",
        problem: .shortSecret(bytes: secret.utf8.count),
        expected:
          "a secret of at least \(Self.minimumSecretBytes) bytes, such as `openssl rand -base64 32` makes")
    }
  }
}
