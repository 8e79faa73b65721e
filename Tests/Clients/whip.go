// whip publish|restart URL TOKEN FILE SOUND | whip play|listen URL TOKEN FOLDER SECONDS: Pion by WHIP and WHEP.
//
// `restart` is `publish` with an ICE restart in the middle of the file; `listen` is `play` until nothing has come for two seconds.
//
// Publishes the pictures of an IVF or H.264 file and the sound of an Ogg file once; or keeps what comes for so many seconds, as
// pictures.ivf or pictures.h264 and sound.ogg. Prints `connected` once it is, and at its end how many pictures it has sent, or
// how many there are at 30 a second from the first to the last timestamp that came.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
	"github.com/pion/webrtc/v3/pkg/media/h264reader"
	"github.com/pion/webrtc/v3/pkg/media/h264writer"
	"github.com/pion/webrtc/v3/pkg/media/ivfreader"
	"github.com/pion/webrtc/v3/pkg/media/oggreader"
	"github.com/pion/webrtc/v3/pkg/media/oggwriter"
)

const pace = time.Second / 30

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// session is what one is known by: its address, and the tag of its ICE session.
type session struct{ address, tag string }

// exchange sends the offer with all candidates and takes the answer.
func exchange(pc *webrtc.PeerConnection, address, token string) session {
	offer, err := pc.CreateOffer(nil)
	check(err)
	gathered := webrtc.GatheringCompletePromise(pc)
	check(pc.SetLocalDescription(offer))
	<-gathered
	request, err := http.NewRequest("POST", address, strings.NewReader(pc.LocalDescription().SDP))
	check(err)
	request.Header.Set("Content-Type", "application/sdp")
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	body, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode != http.StatusCreated {
		check(fmt.Errorf("%s: %s", answer.Status, body))
	}
	check(pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(body)}))
	base, err := url.Parse(address)
	check(err)
	place, err := base.Parse(answer.Header.Get("Location"))
	check(err)
	return session{place.String(), answer.Header.Get("ETag")}
}

// line is the value of the first line of a description that begins so.
func line(sdp, start string) string {
	for _, each := range strings.Split(sdp, "\r\n") {
		if strings.HasPrefix(each, start) {
			return each[len(start):]
		}
	}
	return ""
}

// restart restarts ICE: both sides go on with other credentials, and with all that was agreed on besides.
func restart(pc *webrtc.PeerConnection, known session, token string) {
	offer, err := pc.CreateOffer(&webrtc.OfferOptions{ICERestart: true})
	check(err)
	answered := pc.RemoteDescription().SDP
	gathered := webrtc.GatheringCompletePromise(pc)
	check(pc.SetLocalDescription(offer))
	<-gathered
	sdp := pc.LocalDescription().SDP
	fragment := fmt.Sprintf("m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:%s\r\na=ice-ufrag:%s\r\na=ice-pwd:%s\r\n",
		line(sdp, "a=mid:"), line(sdp, "a=ice-ufrag:"), line(sdp, "a=ice-pwd:"))
	request, err := http.NewRequest("PATCH", known.address, strings.NewReader(fragment))
	check(err)
	request.Header.Set("Content-Type", "application/trickle-ice-sdpfrag")
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("If-Match", "*")
	answer, err := http.DefaultClient.Do(request)
	check(err)
	body, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("ETag") == known.tag {
		check(fmt.Errorf("ICE is not restarted: %s %s", answer.Status, body))
	}
	for _, start := range []string{"a=ice-ufrag:", "a=ice-pwd:"} {
		answered = strings.ReplaceAll(answered, start+line(answered, start), start+line(string(body), start))
	}
	check(pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answered}))
	fmt.Println("restarted")
}

// await returns once DTLS is connected, which ICE is before. The connection's own state doesn't do: Pion's ICE agent reports each of
// its states in a goroutine of its own, and where "checking" is reported after "connected", the connection is never called connected.
func await(transport *webrtc.DTLSTransport) {
	for transport.State() != webrtc.DTLSTransportStateConnected {
		time.Sleep(5 * time.Millisecond)
	}
	fmt.Println("connected")
}

func end(known session, token string) {
	request, err := http.NewRequest("DELETE", known.address, nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	if answer.StatusCode != http.StatusOK {
		check(fmt.Errorf("the session is not ended: %s", answer.Status))
	}
}

// pictures reads a file picture by picture; nil at its end.
func pictures(path string) (string, func() []byte) {
	file, err := os.Open(path)
	check(err)
	if strings.HasSuffix(path, ".h264") {
		reader, err := h264reader.NewReader(file)
		check(err)
		return webrtc.MimeTypeH264, func() []byte {
			var whole []byte
			for {
				nal, err := reader.NextNAL()
				if err != nil {
					return nil
				}
				whole = append(append(whole, 0, 0, 0, 1), nal.Data...)
				if nal.UnitType == h264reader.NalUnitTypeCodedSliceIdr || nal.UnitType == h264reader.NalUnitTypeCodedSliceNonIdr {
					return whole
				}
			}
		}
	}
	reader, header, err := ivfreader.NewWith(file)
	check(err)
	mime := map[string]string{"VP80": webrtc.MimeTypeVP8, "VP90": webrtc.MimeTypeVP9}[header.FourCC]
	return mime, func() []byte {
		frame, _, err := reader.ParseNextFrame()
		if err != nil {
			return nil
		}
		return frame
	}
}

func sound(track *webrtc.TrackLocalStaticSample, path string, stop chan struct{}) {
	file, err := os.Open(path)
	check(err)
	reader, _, err := oggreader.NewWith(file)
	check(err)
	var last uint64
	ticker := time.NewTicker(20 * time.Millisecond)
	for {
		page, header, err := reader.ParseNextPage()
		if err != nil {
			return
		}
		samples := header.GranulePosition - last
		last = header.GranulePosition
		if samples == 0 {
			continue
		}
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		check(track.WriteSample(media.Sample{Data: page, Duration: time.Duration(samples) * time.Second / 48000}))
	}
}

// vp9 says of each picture whether it builds on the one before. Pion's payloader says of each that it builds on none, and browsers,
// which leave out what nothing builds on as soon as they are late, can't decode what follows.
type vp9 struct{ codecs.VP9Payloader }

func (p *vp9) Payload(mtu uint16, frame []byte) [][]byte {
	packets := p.VP9Payloader.Payload(mtu, frame)
	for _, each := range packets {
		each[0] &^= 0x10
		if frame[0]&0x0c != 0 {
			each[0] |= 0x40
		}
	}
	return packets
}

// camera is a track of pictures, and what writes one.
func camera(mime string) (webrtc.TrackLocal, func([]byte) error) {
	capability := webrtc.RTPCodecCapability{MimeType: mime}
	if mime != webrtc.MimeTypeVP9 {
		track, err := webrtc.NewTrackLocalStaticSample(capability, "picture", "pion")
		check(err)
		return track, func(frame []byte) error { return track.WriteSample(media.Sample{Data: frame, Duration: pace}) }
	}
	track, err := webrtc.NewTrackLocalStaticRTP(capability, "picture", "pion")
	check(err)
	packetizer := rtp.NewPacketizer(1200, 0, 0, &vp9{}, rtp.NewRandomSequencer(), 90000)
	return track, func(frame []byte) error {
		for _, packet := range packetizer.Packetize(frame, 3000) {
			if err := track.WriteRTP(packet); err != nil {
				return err
			}
		}
		return nil
	}
}

func publish(pc *webrtc.PeerConnection, address, token, path, tone string, restarts bool) {
	mime, next := pictures(path)
	picture, write := camera(mime)
	microphone, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "sound", "pion")
	check(err)
	sending := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}
	for _, track := range []webrtc.TrackLocal{microphone, picture} {
		_, err = pc.AddTransceiverFromTrack(track, sending)
		check(err)
	}
	known := exchange(pc, address, token)
	await(pc.GetSenders()[0].Transport())
	stop := make(chan struct{})
	go sound(microphone, tone, stop)
	sent := 0
	for range time.Tick(pace) {
		frame := next()
		if frame == nil {
			break
		}
		check(write(frame))
		sent++
		if restarts && sent == 60 {
			go restart(pc, known, token)
		}
	}
	close(stop)
	time.Sleep(300 * time.Millisecond)
	end(known, token)
	fmt.Printf("sent %d\n", sent)
}

// span says how many pictures lie between the timestamps that came.
type span struct {
	first, last uint32
	some        bool
}

// last is when something came, in nanoseconds since 1970; 0: nothing has.
var last atomic.Int64

func (s *span) note(packet *rtp.Packet) {
	last.Store(time.Now().UnixNano())
	if !s.some {
		s.first, s.some = packet.Timestamp, true
	}
	s.last = packet.Timestamp
}

func (s *span) say() {
	if s.some {
		fmt.Printf("span %d\n", (s.last-s.first+1500)/3000+1)
	}
}

// keepIVF writes an IVF file; Pion's writer knows VP8 and AV1 only.
func keepIVF(track *webrtc.TrackRemote, path, fourCC string) {
	file, err := os.Create(path)
	check(err)
	defer file.Close()
	header := make([]byte, 32)
	copy(header, "DKIF")
	binary.LittleEndian.PutUint16(header[6:], 32)
	copy(header[8:], fourCC)
	binary.LittleEndian.PutUint16(header[12:], 320)
	binary.LittleEndian.PutUint16(header[14:], 240)
	binary.LittleEndian.PutUint32(header[16:], 90000)
	binary.LittleEndian.PutUint32(header[20:], 1)
	_, err = file.Write(header)
	check(err)
	var frame []byte
	var came span
	defer came.say()
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		if len(packet.Payload) == 0 {
			continue
		}
		came.note(packet)
		var data []byte
		if fourCC == "VP90" {
			var vp9 codecs.VP9Packet
			data, err = vp9.Unmarshal(packet.Payload)
		} else {
			var vp8 codecs.VP8Packet
			data, err = vp8.Unmarshal(packet.Payload)
		}
		check(err)
		frame = append(frame, data...)
		if packet.Marker {
			head := make([]byte, 12)
			binary.LittleEndian.PutUint32(head, uint32(len(frame)))
			binary.LittleEndian.PutUint64(head[4:], uint64(packet.Timestamp))
			_, err = file.Write(append(head, frame...))
			check(err)
			frame = nil
		}
	}
}

func keep(track *webrtc.TrackRemote, folder string) {
	var writer media.Writer
	var err error
	switch track.Codec().MimeType {
	case webrtc.MimeTypeVP8:
		keepIVF(track, filepath.Join(folder, "pictures.ivf"), "VP80")
		return
	case webrtc.MimeTypeVP9:
		keepIVF(track, filepath.Join(folder, "pictures.ivf"), "VP90")
		return
	case webrtc.MimeTypeH264:
		writer, err = h264writer.New(filepath.Join(folder, "pictures.h264"))
	default:
		writer, err = oggwriter.New(filepath.Join(folder, "sound.ogg"), 48000, 2)
	}
	check(err)
	var came span
	if track.Kind() == webrtc.RTPCodecTypeVideo {
		defer came.say()
	}
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			check(writer.Close())
			return
		}
		if len(packet.Payload) > 0 {
			came.note(packet)
		}
		check(writer.WriteRTP(packet))
	}
}

func play(pc *webrtc.PeerConnection, address, token, folder, seconds string, whileItComes bool) {
	receiving := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeAudio, webrtc.RTPCodecTypeVideo} {
		_, err := pc.AddTransceiverFromKind(kind, receiving)
		check(err)
	}
	done := make(chan struct{}, 2)
	pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		keep(track, folder)
		done <- struct{}{}
	})
	known := exchange(pc, address, token)
	go await(pc.GetReceivers()[0].Transport())
	wait, err := strconv.Atoi(seconds)
	check(err)
	until := time.Now().Add(time.Duration(wait) * time.Second)
	for time.Now().Before(until) {
		if came := last.Load(); whileItComes && came != 0 && time.Since(time.Unix(0, came)) > 2*time.Second {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	end(known, token)
	check(pc.Close())
	for range [2]int{} {
		select {
		case <-done:
		case <-time.After(2 * time.Second):
		}
	}
}

func main() {
	pc, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	check(err)
	if os.Args[1] == "publish" || os.Args[1] == "restart" {
		publish(pc, os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[1] == "restart")
		check(pc.Close())
	} else {
		play(pc, os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[1] == "listen")
	}
}
