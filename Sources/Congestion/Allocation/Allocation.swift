public import Model

/// What each slot of one subscriber gets of the target.
public struct Allocation: Equatable, Sendable {
  /// Why a slot gets less than the best there is.
  public enum Reason: Equatable, Sendable {
    /// The target has no room for more.
    case bandwidth
    /// Its subscriber shows it no larger, or no faster, or wants no better.
    case preference
    /// Its subscriber wants nothing of it.
    case off
    /// Its publisher sends nothing.
    case silent
  }

  public struct Slot: Equatable, Sendable {
    public var slot: Int
    /// Nil: nothing.
    public var option: LayerOption?
    /// Nil where it gets the best there is.
    public var reason: Reason?
    public var memory: SlotMemory
  }

  /// In the order of the demands.
  public var slots: [Slot]
  /// What all of it takes, and what it would take if everything were shown that is wanted.
  public var rate: Double
  public var wanted: Double
  /// The target at which the next upgrade would be made; nil where nothing is withheld for want of it.
  public var next: Double?
  /// The target at which pictures that are shown, with nothing withheld, may grow as encoders' do; nil while there is as much.
  public var room: Double?
}

/// Shares a target out: audio first, then the cheapest layer of every picture, then better ones: by priority, by how good
/// a picture is already, by who speaks and what is shown large.
public struct Allocator: Sendable {
  /// What goes up has to leave so much of the target free.
  static let margin = 1.1
  /// So many times what pictures take at their worst they may soon take: an encoder goes up with what moves.
  static let swell = 1.25

  private struct Ladder {
    var demand: SlotDemand
    /// Indices of the options that its subscriber has a use for.
    var usable: [Int]
    /// Of `usable`; -1: nothing.
    var step = -1
    var isCapped: Bool
    var isFull = false
    /// One of too many.
    var isBeyond = false
    /// Not even its cheapest layer fits.
    var isOver = false
  }

  /// - Parameters:
  ///   - target: bits per second for everything.
  ///   - demands: of video at most 64 are looked at, those beyond get nothing.
  public static func allocate(_ target: Double, _ demands: [SlotDemand], now: Instant) -> Allocation {
    var ladders = demands.map { ladder($0) }
    var (left, pictures) = (target, 0)
    for index in ladders.indices {
      guard ladders[index].demand.kind == .audio else {
        pictures += 1
        guard pictures > mostSlots else { continue }
        (ladders[index].usable, ladders[index].isBeyond) = ([], true)
        continue
      }
      guard !ladders[index].usable.isEmpty else { continue }
      ladders[index].step = 0
      left -= ladders[index].demand.options[0].rate
    }
    let path = Path(target: target, failures: demands, now: now)
    let order = ladders.indices.filter { ladders[$0].demand.kind == .video && !ladders[$0].isBeyond }
      .sorted { goesFirst(ladders[$0], ladders[$1]) }
    for index in order { raise(&ladders[index], &left, path) }
    bearWith(order, &ladders, &left, path)
    fill(order, &ladders, &left, path)
    return result(ladders, path, left)
  }

  static let mostSlots = 64

  /// What all slots share.
  private struct Path {
    let target: Double
    let now: Instant
    /// What more may not be sent in all, since a step up to that was just taken back; nil: anything.
    let refused: Double?
    /// What all slots are sent at present, and how long the last failure has others wait.
    let sent: Double
    let waits: Duration

    init(target: Double, failures demands: [SlotDemand], now: Instant) {
      (self.target, self.now) = (target, now)
      refused = demands.lazy.compactMap { $0.memory.refused(target, now: now) }.min()
      sent = demands.reduce(0) { $0 + ($1.memory.shown?.rate ?? 0) }
      waits = demands.lazy.map { $0.memory.waits(now: now) }.max() ?? .zero
    }
  }

  /// What is shown and doesn't fit stays for a while, at its cheapest, and counts: nothing else is taken up for what it leaves free.
  ///
  /// Little is missing where one lowering explains it: a queue that fills has the target fall below what the path carries
  /// (draft-ietf-rmcat-gcc-02 §5.5), and it is up again some seconds later.
  private static func bearWith(
    _ order: [Int], _ ladders: inout [Ladder], _ left: inout Double, _ path: Path
  ) {
    var missing = -left
    for index in order where ladders[index].step < 0 {
      guard let cheapest = ladders[index].usable.first else { continue }
      ladders[index].isOver = true
      if ladders[index].demand.memory.shown == nil { continue }
      missing += cost(ladders[index].demand.options[cheapest], ladders[index].demand, path.now)
    }
    let isLittle = (path.target + missing) * AIMDRate.decrease <= path.target
    for index in order
    where ladders[index].isOver && ladders[index].demand.memory.endures(isLittle: isLittle, now: path.now) {
      ladders[index].step = 0
      left -= cost(ladders[index].demand.options[ladders[index].usable[0]], ladders[index].demand, path.now)
    }
  }

  /// Step by step: who has least goes first among equals; higher priorities, which come first in the order, have their fill before.
  private static func fill(_ order: [Int], _ ladders: inout [Ladder], _ left: inout Double, _ path: Path) {
    var rest = order[...]
    while let first = rest.first {
      let priority = ladders[first].demand.picture.priority
      let equals = rest.prefix { ladders[$0].demand.picture.priority == priority }
      for step in 0..<SlotDemand.mostOptions {
        for index in equals where !ladders[index].isFull && ladders[index].step == step {
          raise(&ladders[index], &left, path)
        }
      }
      rest = rest[equals.endIndex...]
    }
  }

  // MARK: - What a slot has a use for

  private static func ladder(_ demand: SlotDemand) -> Ladder {
    let options = demand.options.prefix(SlotDemand.mostOptions)
    guard demand.kind == .video else {
      return Ladder(demand: demand, usable: options.isEmpty ? [] : [0], isCapped: false)
    }
    guard demand.picture.quality != .off else { return Ladder(demand: demand, usable: [], isCapped: true) }
    let sizes = sizes(of: options)
    let most = mostSize(demand, sizes, options)
    let usable = options.indices.filter { isUseful(options[$0], demand, options, sizes, most: most) }
    return Ladder(demand: demand, usable: usable, isCapped: usable.last != options.indices.last)
  }

  private static func isUseful(
    _ option: LayerOption, _ demand: SlotDemand, _ options: ArraySlice<LayerOption>,
    _ sizes: [(UInt8, UInt8)],
    most: Int
  ) -> Bool {
    let place = sizes.firstIndex { $0 == (option.encoding, option.spatial) } ?? 0
    guard place <= most,
      place == 0 || demand.isScreen || isFluent(option, demand, options)
    else { return false }
    return isSlowEnough(option, demand)
  }

  /// Whether it has no more pictures a second than its subscriber shows. The slowest layer there is is always of use.
  private static func isSlowEnough(_ option: LayerOption, _ demand: SlotDemand) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.fasterThanShown) { return true }
    #endif
    guard demand.picture.frameRate > 0,
      Int(option.frameRate) > Int(demand.picture.frameRate) + measuredAbove
    else { return true }
    return !demand.options.contains {
      $0.encoding == option.encoding && $0.spatial == option.spatial && $0.temporal < option.temporal
    }
  }
  /// Pictures a second by which what is known of a layer's may be above what it has: one more came in the second that was measured, and
  /// one is added, as one may have come just before.
  private static let measuredAbove = 2

  /// A larger picture is no better that stutters where the smaller one moves.
  private static func isFluent(
    _ option: LayerOption, _ demand: SlotDemand, _ options: ArraySlice<LayerOption>
  ) -> Bool {
    let wanted = demand.picture.frameRate > 0 ? min(demand.picture.frameRate, fluent) : fluent
    guard option.frameRate > 0, option.frameRate < wanted else { return true }
    return !options.contains {
      $0.encoding == option.encoding && $0.spatial == option.spatial && $0.temporal > option.temporal
        && isSlowEnough($0, demand)
    }
  }
  /// Pictures a second: twelve, and the one by which a measured rate may be too high.
  private static let fluent: UInt8 = 13

  private static func sizes(of options: ArraySlice<LayerOption>) -> [(UInt8, UInt8)] {
    var found: [(UInt8, UInt8)] = []
    for option in options where !found.contains(where: { $0 == (option.encoding, option.spatial) }) {
      found.append((option.encoding, option.spatial))
    }
    return found
  }

  /// The largest size that is of use, by its place.
  private static func mostSize(
    _ demand: SlotDemand, _ sizes: [(UInt8, UInt8)], _ options: ArraySlice<LayerOption>
  ) -> Int {
    var most = sizes.count - 1
    switch demand.picture.quality {
    case .off, .low: most = min(most, 0)
    case .medium: most = min(most, max(0, (sizes.count - 1) / 2))
    case .high: break
    }
    guard demand.picture.width > 0 || demand.picture.height > 0 else { return most }
    // The first that fills the tile: what is larger is only made smaller again.
    for place in 0...max(most, 0) where place <= most {
      guard let option = options.first(where: { ($0.encoding, $0.spatial) == sizes[place] }), option.width > 0
      else { continue }
      let fills =
        (demand.picture.width == 0 || option.width >= demand.picture.width)
        && (demand.picture.height == 0 || option.height >= demand.picture.height)
      if fills { return place }
    }
    return most
  }

  // MARK: - Who gets what

  private static func goesFirst(_ a: Ladder, _ b: Ladder) -> Bool {
    let key = { (ladder: Ladder) -> (Int, Int, Int, Int, Int) in
      let demand = ladder.demand
      return (
        -Int(demand.picture.priority), demand.isScreen ? 0 : 1, demand.isSpeaking ? 0 : 1,
        -pixels(demand.picture), demand.slot
      )
    }
    return key(a) < key(b)
  }

  /// How large a subscriber shows a picture; where it says one side alone, of the usual shape, and where it says none, as large as can be.
  private static func pixels(_ picture: PicturePreference) -> Int {
    let (width, height) = (Int(picture.width), Int(picture.height))
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.halfSizeFirst) { return width * height == 0 ? .max : width * height }
    #endif
    switch (width, height) {
    case (0, 0): return .max
    case (_, 0): return width * width * 9 / 16
    case (0, _): return height * height * 16 / 9
    default: return width * height
    }
  }

  /// Takes the slot one step up, if that fits.
  private static func raise(_ ladder: inout Ladder, _ left: inout Double, _ path: Path) {
    let next = nextStep(ladder)
    if take(next, &ladder, &left, path) { return }
    // Of a screen that has no room for a larger picture the one that is shown moves.
    if next != ladder.step + 1, take(ladder.step + 1, &ladder, &left, path) { return }
    ladder.isFull = true
  }

  /// - Returns: false where there is none, or it doesn't fit.
  private static func take(_ step: Int, _ ladder: inout Ladder, _ left: inout Double, _ path: Path) -> Bool {
    guard step < ladder.usable.count else { return false }
    let option = ladder.demand.options[ladder.usable[step]]
    let before =
      ladder.step < 0 ? 0 : cost(ladder.demand.options[ladder.usable[ladder.step]], ladder.demand, path.now)
    let cost = cost(option, ladder.demand, path.now)
    guard max(cost - before, 0) <= left, mayShow(option, ladder.demand, free: left + before, path) else {
      return false
    }
    left -= cost - before
    ladder.step = step
    return true
  }

  /// What counts of a layer: of one that is shown what it takes for long, so that it doesn't go for one large picture. What has become
  /// much more than that counts all the same.
  private static func cost(_ option: LayerOption, _ demand: SlotDemand, _ now: Instant) -> Double {
    guard let shown = demand.memory.shown else { return option.rate }
    // What has just begun, or is to begin, takes what it did when it last came: its last second was in part without it.
    if isAbove(option, shown, demand) || shown.isLayer(option) && demand.memory.isBeginning(now: now) {
      return max(option.rate, option.peak)
    }
    return min(option.rate, max(option.steady, leastShare * option.rate))
  }
  private static let leastShare = 0.85

  /// A screen's motion is what is given up first: its steps are sizes at the slowest rate, and motion comes last.
  private static func nextStep(_ ladder: Ladder) -> Int {
    let next = ladder.step + 1
    guard ladder.demand.isScreen, ladder.step >= 0, next < ladder.usable.count else { return next }
    let shown = ladder.demand.options[ladder.usable[ladder.step]]
    for place in next..<ladder.usable.count {
      let option = ladder.demand.options[ladder.usable[place]]
      if option.spatial != shown.spatial || option.encoding != shown.encoding { return place }
    }
    return next
  }

  /// What is shown stays while it fits. What is better has to fit at its worst, and not soon after it was too much.
  private static func mayShow(
    _ option: LayerOption, _ demand: SlotDemand, free: Double, _ path: Path
  ) -> Bool {
    let (target, now) = (path.target, path.now)
    guard let shown = demand.memory.shown else {
      // The first picture has to fit as it is; one that was taken away waits, and fits at its worst.
      return !demand.memory.isWithheld(target, now: now)
        && demand.memory.mayReturn(option.peak * margin <= free, target, now: now)
    }
    guard !shown.isLayer(option), isAbove(option, shown, demand) else { return true }
    guard option.peak * margin <= free else { return false }
    if demand.memory.isAskedAgain(option.peak * margin, free: free) { return true }
    let total = target - free + option.rate
    if demand.memory.mayRise(target, now: now) {
      return path.refused.map { total <= $0 } ?? true
    }
    // More motion at the size that is shown costs nothing to try before long.
    guard option.encoding == shown.encoding, option.spatial == shown.spatial else { return false }
    return demand.memory.mayRecover(
      isLess: demand.memory.failed.map { isAbove($0, option, demand) } ?? false, now: now)
  }

  private static func isAbove(_ option: LayerOption, _ shown: LayerOption, _ demand: SlotDemand) -> Bool {
    guard let place = demand.options.firstIndex(where: { $0.isLayer(option) }),
      let old = demand.options.firstIndex(where: { $0.isLayer(shown) })
    else { return false }
    return place > old
  }

  // MARK: - The outcome

  private static func result(_ ladders: [Ladder], _ path: Path, _ left: Double) -> Allocation {
    let (target, now) = (path.target, path.now)
    var (wanted, rate) = (0.0, 0.0)
    var (next, sound, pictures): (Double?, Double, Double) = (nil, 0, 0)
    var slots: [Allocation.Slot] = []
    for ladder in ladders {
      let demand = ladder.demand
      var memory = demand.memory
      memory.overSince = ladder.isOver ? memory.overSince ?? now : nil
      let option = ladder.step < 0 ? nil : demand.options[ladder.usable[ladder.step]]
      let best = ladder.usable.last.map { demand.options[$0] }
      wanted += best?.rate ?? 0
      rate += option?.rate ?? 0
      if demand.kind == .audio {
        sound += option?.rate ?? 0
      } else {
        pictures += max(option?.peak ?? 0, option?.rate ?? 0)
      }
      let isDown =
        memory.shown.map { shown in
          isStillWanted(shown, ladder) && option.map { isAbove(shown, $0, demand) } ?? true
        } ?? false
      let isUp =
        memory.shown.map { old in option.map { isAbove($0, old, demand) } ?? false } ?? (option != nil)
      memory.show(
        option, isDown: isDown, isUp: isUp, target: target, sent: path.sent, waits: path.waits, now: now)
      let reason = reason(ladder, option, best)
      memory.isStarved = option == nil && reason == .bandwidth
      slots.append(Allocation.Slot(slot: demand.slot, option: option, reason: reason, memory: memory))
      let place = nextStep(ladder)
      guard demand.kind == .video, place < ladder.usable.count else { continue }
      let above = demand.options[ladder.usable[place]]
      let needed =
        target - left - (option.map { cost($0, demand, now) } ?? 0)
        + memory.needed(max(above.peak * margin, above.rate), target: target, now: now)
      next = min(next ?? .infinity, needed)
    }
    #if PLANTED_DEFECTS
      let room = PlantedDefect.isOn(.noRoomToGrow) ? 0 : sound + pictures * swell
    #else
      let room = sound + pictures * swell
    #endif
    return Allocation(
      slots: slots, rate: rate, wanted: wanted, next: next,
      room: next == nil && pictures > 0 && target < room ? room : nil)
  }

  /// What its subscriber doesn't want any more, or its publisher doesn't send, was not too much.
  private static func isStillWanted(_ shown: LayerOption, _ ladder: Ladder) -> Bool {
    ladder.usable.contains { ladder.demand.options[$0].isLayer(shown) }
  }

  private static func reason(_ ladder: Ladder, _ option: LayerOption?, _ best: LayerOption?) -> Allocation
    .Reason?
  {
    if ladder.demand.picture.quality == .off { return .off }
    if ladder.isBeyond { return .bandwidth }
    if ladder.demand.options.isEmpty { return .silent }
    if ladder.usable.isEmpty { return .off }
    guard let option, let best, option.isLayer(best) else { return .bandwidth }
    return ladder.isCapped ? .preference : nil
  }
}
