internal import Model
internal import SyntheticPeers

/// Who may do what and who does: one participant's permissions and tracks, kept from what was asked of the server, by
/// whom, and what was answered; never from what the server has inside.
///
/// No grace is given: the server does what it is asked in the moment in which it answers. At that moment itself either
/// state may hold. What was on the wire to a subscriber by then had left the server, and isn't judged by when it comes.
final class PermissionLedger {
  /// A request that came to the server.
  struct Offer {
    var sections: [OfferedSection]
    /// SSRCs of slots whose sections it stops.
    var stopped: Set<UInt32>
  }

  private var history: [(from: Instant, allowance: Allowance)]
  /// By the SSRC that is announced.
  private(set) var publications: [UInt32: PublicationRecord] = [:]
  /// SSRCs in the order in which their tracks began.
  private var order: [UInt32] = []
  /// Slots that are no more, by the SSRC of what was sent in them, and since when.
  private(set) var stopped: [UInt32: Instant] = [:]
  /// Mutes of administrators that outlived their tracks: the next track of the source begins with one.
  private var standing: [String: Int] = [:]
  /// Offers that came and are not answered; and all that were.
  private var waiting: [Int: Offer] = [:]
  private var answered: Set<Int> = []
  /// The last request that lifted its own mute of a track.
  private var lifted: [String: Int] = [:]
  /// What it asked for of others' tracks, and was granted: true: it wants it, ahead of others; false: it doesn't.
  private(set) var preferences: [String: Bool] = [:]

  init(_ allowance: Allowance, now: Instant) { history = [(now, allowance)] }

  var allowance: Allowance { history[history.count - 1].allowance }
  /// An offer is being answered, so that it isn't known outside what is published.
  var isUnsettled: Bool { !waiting.isEmpty }

  private func wasEver(at moment: Instant, _ condition: (Allowance) -> Bool) -> Bool {
    history.indices.contains { index in
      let until = index + 1 < history.count ? history[index + 1].from : .never
      return Span(from: history[index].from, until: until).contains(moment)
        && condition(history[index].allowance)
    }
  }

  /// Whether it was without the right to subscribe at some moment of late.
  func mayEverLack(since moment: Instant) -> Bool {
    !allowance.canSubscribe || history.contains { $0.from >= moment }
  }

  func maySubscribe(at moment: Instant) -> Bool { wasEver(at: moment) { $0.canSubscribe } }

  // MARK: - By those who administer

  func permit(_ allowance: Allowance, now: Instant) {
    if !allowance.canSubscribe { preferences = [:] }
    history.append((now, allowance))
    for ssrc in order where publications[ssrc]?.isPublished == true {
      guard let known = publications[ssrc], !allowance.mayPublish(known.source, in: known.kind) else {
        continue
      }
      end(ssrc, now: now)
    }
  }

  /// - Returns: false: it has no such track.
  @discardableResult
  func mute(_ track: String, byAdmin isMuted: Bool, now: Instant) -> Bool {
    guard let ssrc = ssrc(of: track) else { return false }
    publications[ssrc]?.set(.admin, isMuted, now: now)
    return true
  }

  /// Tracks that an administrator has muted.
  var mutedByAdmin: [String] {
    order.compactMap { publications[$0] }.filter { $0.isMuted(by: .admin) }.compactMap(\.track)
  }

  // MARK: - By itself

  /// An offer has come to the server.
  func note(_ offer: Offer, id: Int) { if !answered.contains(id) { waiting[id] = offer } }

  func noteRefusal(_ id: Int) {
    waiting[id] = nil
    answered.insert(id)
  }

  /// - Parameters:
  ///   - tracks: what the answer says is published, by mid.
  ///   - declined: sections that it declines for another reason than that they aren't allowed.
  /// - Returns: what is wrong with the answer.
  func noteAnswer(_ id: Int, tracks: [String: String], declined: Set<String>, now: Instant) -> [String] {
    guard let offer = waiting.removeValue(forKey: id) else { return [] }
    answered.insert(id)
    for ssrc in offer.stopped where stopped[ssrc] == nil { stopped[ssrc] = now }
    let sending = offer.sections.compactMap(\.publication)
    for ssrc in order
    where publications[ssrc]?.isPublished == true && !sending.contains(where: { $0.ssrc == ssrc }) {
      end(ssrc, now: now)
    }
    var problems: [String] = []
    for section in offer.sections {
      guard let publication = section.publication else { continue }
      if let problem = take(publication, in: section.mid, tracks, declined, now: now) {
        problems.append(problem)
      }
    }
    return problems
  }

  private func take(
    _ publication: Publication, in mid: String, _ tracks: [String: String], _ declined: Set<String>,
    now: Instant
  ) -> String? {
    let (ssrc, source) = (publication.ssrc, publication.countedSource)
    if publications[ssrc]?.isPublished == true {
      publications[ssrc]?.track = tracks[mid]
      return tracks[mid] == nil ? "a track in \(mid) is gone, though it is allowed" : nil
    }
    guard allowance.mayPublish(source, in: publication.kind) else {
      return tracks[mid].map { "\($0) is published as \(source) in \(mid), which is not allowed" }
    }
    guard let track = tracks[mid] else {
      return declined.contains(mid) ? nil : "nothing is published in \(mid), though \(source) is allowed"
    }
    var record =
      publications[ssrc] ?? PublicationRecord(source: source, kind: publication.kind)
    record.begin(now: now)
    record.track = track
    if takeStanding(source) { record.set(.admin, true, now: now) }
    if publication.isMuted { record.set(.owner, true, now: now) }
    if publications[ssrc] == nil { order.append(ssrc) }
    publications[ssrc] = record
    return nil
  }

  private func end(_ ssrc: UInt32, now: Instant) {
    guard let record = publications[ssrc] else { return }
    if record.isMuted(by: .admin) { standing[record.source, default: 0] += 1 }
    publications[ssrc]?.end(now: now)
  }

  private func takeStanding(_ source: String) -> Bool {
    guard let count = standing[source], count > 0 else { return false }
    standing[source] = count - 1
    return true
  }

  /// A request about one of its tracks has come to the server: a mute may be lifted from here on.
  func noteUnmute(_ track: String, id: Int, now: Instant) {
    lifted[track] = max(lifted[track] ?? 0, id)
    if let ssrc = ssrc(of: track) { publications[ssrc]?.set(.owner, false, now: now) }
  }

  /// A mute of its own has been granted.
  func noteMute(_ track: String, id: Int, now: Instant) {
    guard answered.insert(id).inserted, id > lifted[track] ?? 0, let ssrc = ssrc(of: track) else { return }
    publications[ssrc]?.set(.owner, true, now: now)
  }

  /// A preference has been answered.
  func notePreference(_ track: String, _ isWanted: Bool, id: Int) {
    if answered.insert(id).inserted { preferences[track] = isWanted }
  }

  func ssrc(of track: String) -> UInt32? {
    order.first { publications[$0]?.track == track }
  }
}
