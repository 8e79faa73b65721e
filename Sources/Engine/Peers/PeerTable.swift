internal import Model
internal import Peer

/// The peers of one worker, in memory taken at start, and when each wants to be called. A peer is known by its place,
/// which stays as long as the peer.
struct PeerTable: ~Copyable {
  private let peers: UnsafeMutablePointer<Peer>
  private var keys: [PeerKey?]
  private var free: [Int32]
  private var places: [PeerKey: Int] = [:]
  private var timers: TimerHeap
  let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    peers = .allocate(capacity: capacity)
    keys = Array(repeating: nil, count: capacity)
    free = (0..<Int32(capacity)).reversed()
    timers = TimerHeap(capacity: capacity)
  }

  deinit {
    for place in 0..<capacity where keys[place] != nil { (peers + place).deinitialize(count: 1) }
    peers.deallocate()
  }

  var count: Int { places.count }
  var isFull: Bool { free.isEmpty }

  func find(_ key: PeerKey) -> Int? { places[key] }

  func key(_ place: Int) -> PeerKey? { place >= 0 && place < capacity ? keys[place] : nil }

  /// The peer at a place, which must be occupied.
  @inline(__always)
  func pointer(_ place: Int) -> UnsafeMutablePointer<Peer> { peers + place }

  /// Places in use, in order.
  var occupied: [Int] { (0..<capacity).filter { keys[$0] != nil } }

  /// - Precondition: not full.
  mutating func insert(_ peer: consuming Peer, key: PeerKey) -> Int {
    let place = Int(free.removeLast())
    (peers + place).initialize(to: peer)
    keys[place] = key
    places[key] = place
    return place
  }

  /// Frees a peer and puts the one that its bytes describe in its place.
  /// - Returns: false for bytes that are no peer's; then the place is free.
  mutating func replace(_ place: Int, from state: [UInt8]) -> Bool {
    guard let key = keys[place] else { return false }
    (peers + place).deinitialize(count: 1)
    guard let peer = try? Peer.decode(state) else {
      vacate(place, key)
      return false
    }
    (peers + place).initialize(to: peer)
    return true
  }

  mutating func remove(_ place: Int) {
    guard let key = key(place) else { return }
    (peers + place).deinitialize(count: 1)
    vacate(place, key)
  }

  private mutating func vacate(_ place: Int, _ key: PeerKey) {
    keys[place] = nil
    places[key] = nil
    free.append(Int32(place))
    timers.remove(place)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.timerLeak) { timers.set(place, to: Instant(nanoseconds: .max / 2)) }
    #endif
  }

  // MARK: - Timers

  var timerCount: Int { timers.count }

  /// When the first peer wants to be called.
  var deadline: Instant { timers.first?.deadline ?? .never }

  /// A peer whose time has come.
  func due(_ now: Instant) -> Int? {
    guard let (place, deadline) = timers.first, deadline <= now else { return nil }
    return place
  }

  /// After a call to a peer: it may want to be called at another time.
  mutating func schedule(_ place: Int) { timers.set(place, to: peers[place].deadline) }

  /// As `schedule`, for what a media packet can move: only forward, and cheap enough to be asked after each.
  @inline(__always)
  mutating func scheduleFeedback(_ place: Int) {
    if peers[place].feedbackDeadline < timers.deadline(of: place) {
      timers.set(place, to: peers[place].feedbackDeadline)
    }
  }
}
