// Names for rooms: easy to read out and to type, and hard to come upon by chance.

const kinds = ("amber bold brave bright calm clear clever crisp early fair fine fond free gentle glad golden grand happy jolly kind lively "
  + "merry mild noble proud quick quiet silver sunny swift warm wise").split(" ");
const birds = ("avocet bittern crane curlew dipper dove dunlin eagle egret falcon finch gannet goose grebe heron ibis jay kestrel kite lark "
  + "linnet magpie martin osprey owl plover puffin raven robin stork swan wren").split(" ");
const places = ("bay beach bridge brook cliff coast cove creek dale delta dune field fjord forest garden glade grove harbor heath hill "
  + "island lagoon lake marsh meadow moor orchard pond reef river shore valley").split(" ");

/** As in "calm-heron-lake-42": one of three million. */
export function roomName() {
  const [kind, bird, place, number] = crypto.getRandomValues(new Uint16Array(4));
  const pick = (words, random) => words[random % words.length];
  return [pick(kinds, kind), pick(birds, bird), pick(places, place), 10 + (number % 90)].join("-");
}
