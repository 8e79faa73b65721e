import Model
import Testing

@Suite("Picture preferences", .timeLimit(.minutes(1)))
struct PicturePreferenceTests {
  private func preference(
    _ quality: PicturePreference.Quality = .high, width: UInt16 = 0, height: UInt16 = 0, frameRate: UInt8 = 0
  ) -> PicturePreference {
    var preference = PicturePreference()
    (preference.quality, preference.width, preference.height) = (quality, width, height)
    preference.frameRate = frameRate
    return preference
  }

  @Test func `a better quality, a larger tile and more motion are more, also where the bound goes`() {
    #expect(preference(.high).asksForMore(than: preference(.low)))
    #expect(preference(width: 640).asksForMore(than: preference(width: 320)))
    #expect(preference(width: 0).asksForMore(than: preference(width: 320)))
    #expect(preference(height: 720).asksForMore(than: preference(height: 360)))
    #expect(preference(frameRate: 30).asksForMore(than: preference(frameRate: 15)))
  }

  @Test func `the same, or less, is not more, and a bound where there was none is less`() {
    #expect(!preference().asksForMore(than: preference()))
    #expect(!preference(.low).asksForMore(than: preference(.high)))
    #expect(!preference(width: 320).asksForMore(than: preference()))
    #expect(!preference(frameRate: 1).asksForMore(than: preference()))
    var other = preference()
    other.priority = 255
    #expect(!other.asksForMore(than: preference()))
  }
}
