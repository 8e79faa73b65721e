internal import Crypto
internal import FoundationEssentials
internal import HTTPServer
internal import SyntheticPeers

/// What people ask of themselves: devices, keys, blocks, their history, and to be forgotten.
extension CallConference {
  /// - Returns: nil: there is nothing to do.
  func oneself(_ member: CallMember) -> CallErrand? {
    let phone = one(of: member.phones)
    switch below(12) {
    case 0, 1: return list(member, limit: 20)
    case 2: return register(member, phone)
    case 3: return shown("/v1/devices", .deviceListed) { $0.shortItems = 50 }
    case 4: return blocks(of: member)
    case 5, 6: return keys(of: one(of: people))
    case 7: return publish(member, phone)
    case 8: return below(3) == 0 ? revoke(member, phone) : history(of: one(of: people), by: member)
    case 9: return readHead()
    case 10: return consistency()
    default: return refused(below(2) == 0 ? "/v1/people" : "/v1/people?online=true", "who else there is")
    }
  }

  /// What is read, and nothing else.
  private func shown(
    _ path: String, _ mechanism: Mechanism, _ price: (inout CallPrice) -> Void
  ) -> CallErrand {
    let errand = CallErrand(mechanism, .get, path)
    price(&errand.price)
    return errand
  }

  /// What no one is given here.
  private func refused(_ path: String, _ what: String) -> CallErrand {
    let parts = path.split(separator: "?").map(String.init)
    let errand = CallErrand(.callRead, .get, parts[0])
    if parts.count > 1 { errand.query = parts[1] }
    errand.effect = { [self] reply in violation("\(what) is shown: \(text(reply))") }
    return errand
  }

  private func list(_ member: CallMember, limit: Int, of other: String? = nil) -> CallErrand {
    let other = other ?? (below(3) == 0 ? one(of: people).name : nil)
    let errand = CallErrand(.callListed, .get, "/v1/calls")
    errand.query = "limit=\(limit)" + (other.map { "&participant=\($0)" } ?? "")
    errand.price.items = limit
    errand.price.shortItems = other == nil ? 0 : CallPrice.mostLookedAt
    errand.price.isPaidBehind = true
    errand.shows = .list
    return errand
  }

  /// More than anyone can pay for at once.
  func flood(_ member: CallMember) {
    let bearer = personBearer(of: member)
    for _ in 0..<8 { perform([(list(member, limit: 200, of: "bob"), bearer)]) }
  }

  // MARK: - Devices

  /// Sometimes by the token of another, which moves then.
  func register(_ member: CallMember, _ phone: CallPhone) -> CallErrand {
    let known = people.compactMap(\.secret)
    let secret = !known.isEmpty && below(3) == 0 ? one(of: known) : "abcd" + ledger.word(.secret)
    let errand = CallErrand(.deviceRegistered, .put, "/v1/devices/\(phone.id)")
    errand.body = #"{"platform":"webhook","token":"\#(secret)","topic":"t"}"#
    errand.effect = { _ in member.secret = secret }
    return errand
  }

  // MARK: - Keys

  /// - Returns: nil: there is no key to be had.
  func publish(_ member: CallMember, _ phone: CallPhone) -> CallErrand? {
    guard let key = try? SigningKey() else { return nil }
    let point = Data(key.publicKey.suffix(65)).base64EncodedString()
    let errand = CallErrand(.deviceKeyPublished, .put, "/v1/keys/\(member.name)")
    errand.body = #"{"device":"\#(phone.id)","algorithm":"p256","key":"\#(point)"}"#
    errand.effect = { [self] reply in
      guard let shown = CallKeyView.read(reply.body) else { return violation("no key: \(text(reply))") }
      phone.key = shown.entry.id
    }
    return errand
  }

  private func revoke(_ member: CallMember, _ phone: CallPhone) -> CallErrand {
    let errand = CallErrand(.deviceKeyRevoked, .delete, "/v1/keys/\(member.name)/\(phone.id)")
    errand.effect = { _ in phone.key = nil }
    return errand
  }

  /// Each device has the key that was published for it last.
  private func keys(of member: CallMember) -> CallErrand {
    let errand = shown("/v1/keys/\(member.name)", .deviceKeyFetched) { $0.keyEntries = 16 }
    if let head, below(2) == 0 { errand.query = "head=\(head.size)" }
    errand.effect = { [self] reply in
      guard let shown = CallKeysView.read(reply.body) else { return violation("no keys: \(text(reply))") }
      let known = member.phones.compactMap(\.key).sorted()
      if shown.keys.map(\.id).sorted() != known {
        violation("of \(member.name) the keys \(shown.keys.map(\.id)) are shown, and \(known) are current")
      }
      note(shown.head)
    }
    return errand
  }

  /// All entries of a person, which are for that one alone.
  private func history(of other: CallMember, by member: CallMember) -> CallErrand {
    let path = "/v1/keys/\(other.name)/history"
    guard other.name == member.name else { return refused(path, "the history of \(other.name)'s keys") }
    return shown(path, .deviceKeyFetched) { $0.keyEntries = 50 }
  }

  private func readHead() -> CallErrand {
    let errand = shown("/v1/keys/head", .keyProofRead) { _ in }
    errand.effect = { [self] reply in
      guard let shown = CallHeadView.read(reply.body) else { return violation("no head: \(text(reply))") }
      note(shown)
    }
    return errand
  }

  /// The log only grows.
  private func note(_ shown: CallHeadView) {
    if let head, shown.size < head.size || shown.size == head.size && shown.root != head.root {
      violation("the log of keys has had \(head.size) leaves, and is shown with \(shown.size)")
    }
    head = shown
  }

  private func consistency() -> CallErrand? {
    guard let head, head.size > 1 else { return nil }
    let errand = shown("/v1/keys/consistency", .keyProofRead) { _ in }
    errand.query = "from=\(1 + below(head.size - 1))&to=\(head.size)"
    return errand
  }

  // MARK: - Blocks, and being forgotten

  func block(_ member: CallMember) -> CallErrand? {
    let other = one(of: people).name
    guard other != member.name else { return nil }
    let isBlocked = below(5) < 3
    let errand = CallErrand(
      isBlocked ? .personBlocked : .personUnblocked, isBlocked ? .put : .delete, "/v1/blocks/\(other)")
    errand.effect = { [self] _ in
      let block = CallLedger.Block(of: other, by: member.name)
      if isBlocked { ledger.blocks.insert(block) } else { ledger.blocks.remove(block) }
    }
    return errand
  }

  private func blocks(of member: CallMember) -> CallErrand {
    let errand = shown("/v1/blocks", .callRead) { $0.shortItems = 50 }
    errand.effect = { [self] reply in
      let shown = CallNamesView.read(reply.body)?.items.sorted()
      let known = ledger.blocks.filter { $0.by == member.name }.map(\.of).sorted()
      if shown != known { violation("\(member.name) has blocked \(known), and is shown \(text(reply))") }
    }
    return errand
  }

  func erase(_ member: CallMember) -> CallErrand {
    let errand = CallErrand(.personErased, .delete, "/v1/people/\(member.name)")
    errand.effect = { [self] _ in
      ledger.forget(member.name)
      rings.forget(member.name)
      member.forgotten = step
      member.secret = nil
      for phone in member.phones { phone.key = nil }
    }
    return errand
  }
}
