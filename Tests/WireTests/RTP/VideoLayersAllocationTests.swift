import Model
import Testing
import Wire

@Suite("Video layers allocation", .timeLimit(.minutes(1)))
struct VideoLayersAllocationTests {
  func parse(_ bytes: [UInt8]) throws(VideoLayersAllocationError) -> VideoLayersAllocation {
    try withBytes(bytes) { element throws(VideoLayersAllocationError) in try VideoLayersAllocation(element) }
  }

  /// Three streams of a simulcast with two layers of frame rate each; the second is off.
  let simulcast: [UInt8] = [
    0x60, 0x10, 0x10,  // stream 1 of 3, masks 1, 0, 1
    0x50,  // two layers of frame rate in each of two
    60, 100, 0xB0, 0x09, 0xDC, 0x0B,  // 60, 100, 1200, 1500 kbit/s
    0, 159, 0, 89, 30, 2, 127, 1, 103, 25,
  ]

  @Test func `streams have layers, rates and sizes, and those that are off none`() throws {
    let read = try parse(simulcast)
    #expect(read.stream == 1 && read.streams == 3)
    let now = Instant(nanoseconds: 5)
    let first = read.announcement(ofStream: 0, arrival: now)
    #expect(first.isActive && first.layers[0].temporalCount == 2 && first.layers[1].temporalCount == 0)
    #expect(first.layers[0].rates[0] == 60 && first.layers[0].rates[1] == 100 && first.arrival == now)
    #expect(first.layers[0].picture == PictureSize(width: 160, height: 90) && first.layers[0].frameRate == 30)
    #expect(!read.announcement(ofStream: 1, arrival: now).isActive)
    let last = read.announcement(ofStream: 2, arrival: now)
    #expect(
      last.layers[0].rates[1] == 1_500 && last.layers[0].picture == PictureSize(width: 640, height: 360))
    #expect(!read.announcement(ofStream: 3, arrival: now).isActive)
  }

  @Test func `one mask may be of all streams, and sizes may be left out`() throws {
    let svc = try parse([0x03, 0x40, 50, 0x80, 0x01, 0x90, 0x03])
    let only = svc.announcement(ofStream: 0, arrival: Instant(nanoseconds: 0))
    #expect(only.layers[0].temporalCount == 2 && only.layers[1].temporalCount == 1)
    #expect(only.layers[0].rates[1] == 128 && only.layers[1].rates[0] == 400)
    #expect(only.layers[0].picture == PictureSize() && only.layers[0].frameRate == 0)
  }

  @Test func `a single zero says that nothing is sent`() throws {
    let nothing = try parse([0])
    #expect(
      nothing.streams == 0 && !nothing.announcement(ofStream: 0, arrival: Instant(nanoseconds: 0)).isActive)
  }

  @Test func `sixteen layers with four rates each are read`() throws {
    let bytes: [UInt8] = [0x3F] + Array(repeating: 0xFF, count: 4) + Array(repeating: 7, count: 64)
    let read = try parse(bytes)
    for stream in 0..<4 {
      let announced = read.announcement(ofStream: stream, arrival: Instant(nanoseconds: 0))
      for layer in 0..<4 {
        #expect(announced.layers[layer].temporalCount == 4 && announced.layers[layer].rates[3] == 7)
      }
    }
  }

  @Test func `what is cut, too large or contradictory is refused`() {
    #expect(throws: VideoLayersAllocationError.empty) { try parse([]) }
    #expect(throws: VideoLayersAllocationError.unlistedStream(2)) { try parse([0x91, 0, 5]) }
    for count in 1..<10 {
      #expect(throws: VideoLayersAllocationError.truncated) { try parse(Array(simulcast[..<count])) }
    }
    for count in 11..<20 {
      #expect(throws: VideoLayersAllocationError.sizes(bytes: count - 10)) {
        try parse(Array(simulcast[..<count]))
      }
    }
    #expect(throws: VideoLayersAllocationError.rateTooLarge) {
      try parse([0x01, 0, 0x80, 0x80, 0x80, 0x80, 1])
    }
  }
}
