internal import Configuration
internal import Crypto
internal import Engine
internal import Foundation
internal import Model

/// How HTTP is protected.
struct Secured {
  /// nil: not at all, it is spoken in clear.
  let context: TLSContext?
  /// Of a certificate that was made here and that no authority vouches for, as browsers show it.
  let ownFingerprint: String?

  /// - Parameter names: those of this machine, for a certificate of its own.
  /// - Throws: `StartProblem` that names the file that is no good.
  init(_ configuration: Configuration, audience: Roost.Audience, names: [String]) throws {
    let http = configuration.http
    if !http.certificate.isEmpty {
      context = try TLSContext(Self.identity(certificate: http.certificate, privateKey: http.privateKey))
      ownFingerprint = nil
    } else if audience == .network {
      let now = Int64(Date().timeIntervalSince1970)
      let day: Int64 = 86_400
      let identity = try TLSIdentity(
        selfSignedFor: LocalNetwork.addresses(includesLoopback: true), names: names + ["localhost"],
        notBefore: now - day, notAfter: now + 90 * day)
      context = try TLSContext(identity)
      ownFingerprint = identity.fingerprint.digest.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }.joined(separator: ":")
    } else {
      context = nil
      ownFingerprint = nil
    }
  }

  private static func identity(certificate: String, privateKey: String) throws -> TLSIdentity {
    let texts = try [certificate, privateKey].map { path in
      do {
        return try Roost.text(of: path)
      } catch {
        throw StartProblem(description: "\(path): cannot be read: \(error)")
      }
    }
    do {
      return try TLSIdentity(certificates: texts[0], privateKey: texts[1])
    } catch {
      throw StartProblem(description: "\(certificate) and \(privateKey): \(error)")
    }
  }
}

/// This machine as its network knows it.
enum LocalNetwork {
  /// - Parameter includesLoopback: 127.0.0.1 and ::1 too.
  static func addresses(includesLoopback: Bool) -> [SocketAddress] {
    HostAddresses.list(port: 0, includesLoopback: false)
      + (includesLoopback
        ? [SocketAddress(ipv4: 127, 0, 0, 1, port: 0), SocketAddress(high: 0, low: 1, port: 0)] : [])
  }

  /// Its host name, and the one that it may have by multicast DNS.
  static func names() -> [String] {
    let full = ProcessInfo.processInfo.hostName.lowercased()
    let short = full.prefix { $0 != "." }
    guard !short.isEmpty, short != "localhost" else { return [] }
    return full == short ? [full, "\(short).local"] : [full, String(short), "\(short).local"]
  }
}
