import Model
import Testing

@testable import Congestion

@Suite("Sharing a target out", .timeLimit(.minutes(2)))
struct AllocatorTests {
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  private static func simulcast(_ rates: [Double] = [150e3, 500e3, 1_500e3], temporal: Int = 2)
    -> [LayerOption]
  {
    let sizes: [(UInt16, UInt16)] = [(320, 180), (640, 360), (1_280, 720)]
    return rates.enumerated().flatMap { encoding, rate in
      (0..<temporal).map { layer in
        let share = temporal == 1 ? 1 : layer == 0 ? 0.6 : 1
        return LayerOption(
          encoding: UInt8(encoding), temporal: UInt8(layer), width: sizes[encoding].0,
          height: sizes[encoding].1,
          frameRate: layer == 0 ? 15 : 30, rate: rate * share, peak: rate * share * 1.2)
      }
    }
  }

  private static func video(_ slot: Int, _ options: [LayerOption] = simulcast()) -> SlotDemand {
    SlotDemand(slot: slot, kind: .video, options: options)
  }

  private static func audio(_ slot: Int) -> SlotDemand {
    SlotDemand(slot: slot, kind: .audio, options: [LayerOption(rate: 40e3, peak: 40e3)])
  }

  /// Allocates again and again, each time with what the last one left, until nothing changes any more.
  private func settled(_ target: Double, _ demands: [SlotDemand]) -> Allocation {
    var demands = demands
    var now = start
    var allocation = Allocator.allocate(target, demands, now: now)
    for _ in 0..<40 {
      for (index, slot) in allocation.slots.enumerated() { demands[index].memory = slot.memory }
      now = now + .seconds(70)
      allocation = Allocator.allocate(target, demands, now: now)
    }
    return allocation
  }

  @Test func `audio has its share before any picture, whatever the target`() {
    let demands = [Self.video(0), Self.audio(1), Self.video(2), Self.audio(3)]
    for target in [0.0, 30e3, 90e3, 200e3, 1e6] {
      let slots = settled(target, demands).slots
      #expect(slots[1].option != nil && slots[3].option != nil)
      if target < 80e3 + 90e3 { #expect(slots[0].option == nil && slots[0].reason == .bandwidth) }
    }
  }

  @Test func `each has a picture before one has a better one`() {
    let demands = (0..<4).map { Self.video($0) }
    for step in 1...200 {
      let target = Double(step) * 20e3
      let slots = settled(target, demands).slots
      if slots.contains(where: { ($0.option?.encoding ?? 0) > 0 }) {
        #expect(slots.allSatisfy { $0.option != nil })
      }
    }
  }

  @Test func `the higher priority is better served, then who speaks, then what is larger`() {
    var demands = (0..<3).map { Self.video($0) }
    demands[2].picture.priority = 200
    let first = settled(1.1e6, demands).slots
    #expect(first[2].option!.rate > first[0].option!.rate && first[0].option != nil && first[1].option != nil)
    demands[2].picture.priority = 128
    demands[1].isSpeaking = true
    let second = settled(1.1e6, demands.map(Self.plain)).slots
    #expect(
      second[1].option!.rate > second[0].option!.rate && second[1].option!.rate > second[2].option!.rate)
    demands[1].isSpeaking = false
    demands[0].picture.width = 1_280
    demands[1].picture.width = 320
    demands[2].picture.width = 320
    let third = settled(2.5e6, demands).slots
    #expect(third[0].option!.width == 1_280 && third[1].option!.width == 320)
    #expect(third[1].reason == .preference && third[0].reason == nil)
  }

  @Test func `the larger tile is better served, whichever of its sides is said`() {
    let larger: [(UInt16, UInt16)] = [(1_280, 720), (1_280, 0), (0, 720), (0, 0)]
    for (width, height) in larger {
      // The smaller has the lower number, and would go first of two alike.
      for (smallWidth, smallHeight) in [(960, 540), (960, 0), (0, 540)] as [(UInt16, UInt16)] {
        var demands = [Self.video(0), Self.video(1)]
        (demands[0].picture.width, demands[0].picture.height) = (smallWidth, smallHeight)
        (demands[1].picture.width, demands[1].picture.height) = (width, height)
        let slots = settled(800e3, demands).slots
        let served = slots.map { $0.option?.rate ?? 0 }
        #expect(served[1] > served[0], "\(width) × \(height) beside \(smallWidth) × \(smallHeight)")
      }
    }
  }

  /// Of the priority that all have.
  private static func plain(_ demand: SlotDemand) -> SlotDemand {
    var demand = demand
    demand.picture.priority = 128
    return demand
  }

  @Test func `one goes up only where its peak fits as well`() {
    var demand = Self.video(0, Self.simulcast([150e3, 500e3], temporal: 1))
    demand.memory = settled(300e3, [demand]).slots[0].memory
    var now = start + .seconds(10_000)
    func shown(peak: Double) -> UInt8? {
      demand.options[1].peak = peak
      for _ in 0..<5 {
        now = now + .seconds(70)
        demand.memory = Allocator.allocate(700e3, [demand], now: now).slots[0].memory
      }
      return demand.memory.shown?.encoding
    }
    #expect(shown(peak: 900e3) == 0)
    #expect(shown(peak: 550e3) == 1)
  }

  @Test func `nothing is larger or faster than its subscriber shows it`() {
    var demand = Self.video(0)
    (demand.picture.width, demand.picture.height) = (500, 280)
    #expect(settled(10e6, [demand]).slots[0].option?.width == 640)
    (demand.picture.width, demand.picture.height) = (0, 280)
    #expect(settled(10e6, [demand]).slots[0].option?.height == 360, "a height alone says it")
    demand.picture.frameRate = 15
    #expect(settled(10e6, [demand]).slots[0].option?.temporal == 0)
    demand.picture.quality = .low
    #expect(settled(10e6, [demand]).slots[0].option?.width == 320)
    demand.picture.quality = .off
    let slot = settled(10e6, [demand]).slots[0]
    #expect(slot.option == nil && slot.reason == .off)
    #expect(settled(10e6, [Self.video(0, [])]).slots[0].reason == .silent)
  }

  /// Rates as they are known: one above what is measured.
  @Test
  func
    `of three rates none is above what its subscriber shows, at the size that it shows, and the slowest always comes`()
  {
    let sizes: [(UInt16, Double)] = [(320, 100e3), (640, 300e3), (1_280, 900e3)]
    let speeds: [(UInt8, Double)] = [(6, 0.5), (11, 0.7), (21, 1)]
    var options: [LayerOption] = []
    for (encoding, size) in sizes.enumerated() {
      for (layer, speed) in speeds.enumerated() {
        let rate = size.1 * speed.1
        options.append(
          LayerOption(
            encoding: UInt8(encoding), temporal: UInt8(layer), width: size.0, height: size.0 / 16 * 9,
            frameRate: speed.0, rate: rate, peak: rate))
      }
    }
    var demand = Self.video(0, options)
    let cases: [(most: UInt8, layer: UInt8)] = [
      (0, 2), (30, 2), (20, 2), (15, 1), (10, 1), (7, 0), (5, 0), (1, 0),
    ]
    for (most, layer) in cases {
      demand.picture.frameRate = most
      let slot = settled(10e6, [demand]).slots[0]
      #expect(slot.option?.temporal == layer && slot.option?.width == 1_280, "\(most)")
      let reason: Allocation.Reason? = layer < 2 ? .preference : nil
      #expect(slot.reason == reason)
    }
    // Nothing is known of rates at first.
    for index in demand.options.indices { demand.options[index].frameRate = 0 }
    demand.picture.frameRate = 15
    #expect(settled(10e6, [demand]).slots[0].option?.temporal == 2)
  }

  @Test func `a screen is sharp before it moves`() {
    var screen = Self.video(0)
    screen.isScreen = true
    let sharp = settled(1.2e6, [screen]).slots[0].option
    #expect(sharp?.width == 1_280 && sharp?.temporal == 0)
    let camera = settled(1.2e6, [Self.video(0)]).slots[0].option
    #expect(camera?.width == 1_280 || camera?.temporal == 1)
  }

  @Test func `a track of one encoding sheds frames, then pauses, and comes back`() {
    let options = Self.simulcast([900e3])
    #expect(settled(1.2e6, [Self.video(0, options)]).slots[0].option?.temporal == 1)
    #expect(settled(700e3, [Self.video(0, options)]).slots[0].option?.temporal == 0)
    let paused = settled(300e3, [Self.video(0, options)])
    #expect(paused.slots[0].option == nil && paused.slots[0].reason == .bandwidth)
    #expect(paused.next! > 540e3 && paused.next! < 800e3)
  }

  @Test func `what its subscriber gave up is there at once when it is wanted again`() {
    var demand = Self.video(0)
    demand.memory = settled(10e6, [demand]).slots[0].memory
    var now = start + .seconds(10_000)
    for quality in [PicturePreference.Quality.off, .high, .low, .high] {
      demand.picture.quality = quality
      now = now + .milliseconds(100)
      let slot = Allocator.allocate(10e6, [demand], now: now).slots[0]
      #expect(slot.option?.width == [.off: nil, .low: 320, .high: 1_280][quality])
      #expect(!slot.memory.isStarved)
      demand.memory = slot.memory
    }
  }

  @Test
  func `a picture that doesn't fit stays for half a second, and is there at once where much more is carried`()
  {
    var demand = Self.video(0, Self.simulcast([900e3], temporal: 1))
    demand.memory = settled(2e6, [demand]).slots[0].memory
    let now = start + .seconds(10_000)
    func shown(_ target: Double, after milliseconds: Int) -> Bool {
      let slot = Allocator.allocate(target, [demand], now: now + .milliseconds(milliseconds)).slots[0]
      demand.memory = slot.memory
      return slot.option != nil
    }
    #expect(shown(300e3, after: 0) && shown(300e3, after: 400) && !shown(300e3, after: 600))
    #expect(!shown(400e3, after: 700))
    #expect(shown(1.4e6, after: 800), "half as much again as was sent when it was given up")
  }

  @Test func `what is shown stays for one large picture, and goes where it has become more for good`() {
    var demand = Self.video(0, Self.simulcast([150e3, 500e3]))
    let target = 560e3
    let shown = settled(target, [demand]).slots[0]
    #expect(shown.option?.encoding == 1 && shown.option?.temporal == 1)
    demand.memory = shown.memory
    let now = start + .seconds(70 * 41)
    demand.options[3].rate = 620e3
    #expect(Allocator.allocate(target, [demand], now: now).slots[0].option?.rate == 620e3)
    demand.options[3].steady = 620e3
    #expect(Allocator.allocate(target, [demand], now: now).slots[0].option?.temporal == 0)
    // What is not shown has to fit as it is.
    var other = Self.video(0, Self.simulcast([150e3, 500e3]))
    other.options[3].rate = 620e3
    #expect(settled(target, [other]).slots[0].option?.temporal == 0)
    // Nor is what has become much more carried along because it was less.
    demand.options[3].rate = 900e3
    demand.options[3].steady = 500e3
    #expect(Allocator.allocate(target, [demand], now: now).slots[0].option?.temporal == 0)
  }

  @Test func `more motion at the size that is shown is back before what was too much`() {
    var demand = Self.video(0)
    demand.memory = settled(600e3, [demand]).slots[0].memory
    var now = start + .seconds(10_000)
    func shown(_ target: Double, after span: Duration) -> LayerOption? {
      now = now + span
      let slot = Allocator.allocate(target, [demand], now: now).slots[0]
      demand.memory = slot.memory
      return slot.option
    }
    #expect(shown(10e6, after: .seconds(1))?.encoding == 2)
    for target in [500e3, 300e3, 100e3] { _ = shown(target, after: .milliseconds(200)) }
    #expect(shown(100e3, after: .milliseconds(200))?.temporal == 0)
    #expect(shown(210e3, after: .milliseconds(500))?.temporal == 0, "soon after it was too much")
    let back = shown(210e3, after: .seconds(2))
    #expect(back?.encoding == 0 && back?.temporal == 1)
  }

  /// Seeds of demands that anything could make.
  @Test(arguments: 0..<300)
  func `whatever is asked for, the rules hold`(seed: Int) {
    var random = RandomSource.seeded(state: UInt64(seed))
    let demands = (0..<Int(random.next() % 12 + 1)).map { slot -> SlotDemand in
      if random.next() % 4 == 0 { return Self.audio(slot) }
      let scale = Double(random.next() % 300 + 10) / 100
      var demand = Self.video(
        slot,
        Self.simulcast(
          [[150e3, 500e3, 1_500e3], [300e3, 900e3], [700e3], []][Int(random.next() % 4)].map { $0 * scale },
          temporal: Int(random.next() % 2 + 1)))
      demand.picture.priority = UInt8(random.next() % 3 * 100)
      demand.isScreen = random.next() % 5 == 0
      demand.isSpeaking = random.next() % 5 == 0
      demand.picture.quality = PicturePreference.Quality.allCases[Int(random.next() % 4)]
      demand.picture.width = UInt16(random.next() % 3 * 500)
      return demand
    }
    let target = Double(random.next() % 6_000) * 1_000
    let allocation = settled(target, demands)
    let audio = demands.filter { $0.kind == .audio }.reduce(0) { $0 + $1.options[0].rate }
    #expect(allocation.rate <= max(target, audio) + 1)
    #expect(allocation == settled(target, demands))
    for (demand, slot) in zip(demands, allocation.slots) {
      #expect(slot.slot == demand.slot)
      if demand.kind == .audio { #expect(slot.option != nil) }
      if demand.picture.quality == .off, demand.kind == .video { #expect(slot.option == nil) }
      if let option = slot.option { #expect(demand.options.contains(option)) }
    }
    // More never makes the whole worse.
    #expect(settled(target + 500e3, demands).rate + 1 >= allocation.rate * 0.7)
    // The order in which they are named says nothing.
    let mirrored = settled(target, demands.reversed())
    #expect(
      Set(mirrored.slots.map { "\($0.slot) \(String(describing: $0.option))" })
        == Set(allocation.slots.map { "\($0.slot) \(String(describing: $0.option))" }))
  }

  @Test(arguments: 0..<20)
  func
    `at a constant target sizes change at most four times a minute, motion at most eight, however rates wobble`(
      seed: Int
    )
  {
    var random = RandomSource.seeded(state: UInt64(seed))
    let base = (0..<3).map { Self.video($0) }
    var memories = base.map(\.memory)
    var (changes, sizes) = (0, 0)
    var before: [LayerOption?] = [nil, nil, nil]
    var means = Array(repeating: Array(repeating: 1.0, count: 30), count: 3)
    let target = 1.5e6 + Double(seed) * 100e3
    for step in 0..<1_800 {
      var demands = base
      for index in demands.indices {
        means[index].removeFirst()
        means[index].append(step % 10 == 0 ? 0.7 + Double(random.next() % 600) / 1_000 : means[index].last!)
        let (mean, peak) = (means[index].last!, means[index].max()!)
        for place in demands[index].options.indices {
          demands[index].options[place].peak = demands[index].options[place].rate * peak
          demands[index].options[place].rate *= mean
        }
        demands[index].memory = memories[index]
      }
      let allocation = Allocator.allocate(target, demands, now: start + .milliseconds(100 * step))
      for (index, slot) in allocation.slots.enumerated() {
        memories[index] = slot.memory
        if step > 1_200,
          before[index].map({ old in slot.option.map { !$0.isLayer(old) } ?? true }) ?? (slot.option != nil)
        {
          changes += 1
          if before[index]?.encoding != slot.option?.encoding { sizes += 1 }
        }
        before[index] = slot.option
      }
    }
    #expect(sizes <= 3 * 4 && changes <= 3 * 8, "of three slots in the last minute")
  }
}
