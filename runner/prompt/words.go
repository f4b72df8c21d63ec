package prompt

// words are short English words, each one token for the usual tokenisers.
//
//nolint:gochecknoglobals // a constant list; Go has no constant slices
var words = [...]string{
	"the", "and", "for", "you", "not", "are", "but", "all", "any", "can", "had", "her", "was", "one", "our", "out",
	"day", "get", "has", "him", "his", "how", "man", "new", "now", "old", "see", "two", "way", "who", "boy", "did",
	"its", "let", "put", "say", "she", "too", "use", "big", "end", "far", "few", "run", "own", "off", "set", "try",
	"ask", "men", "air", "car", "eye", "arm", "bad", "bed", "box", "bus", "cut", "dog", "dry", "ear", "eat", "egg",
	"fit", "fly", "fun", "gas", "gun", "hat", "hit", "hot", "ice", "job", "key", "kid", "law", "lay", "led", "leg",
	"lie", "lot", "low", "map", "mix", "net", "oil", "pay", "per", "red", "sea", "sit", "six", "sky", "son", "sun",
	"tax", "ten", "tie", "top", "war", "wet", "win", "yes", "yet", "able", "area", "army", "away", "back", "ball", "band",
	"bank", "base", "been", "best", "bird", "blue", "boat", "body", "book", "born", "both", "call", "came", "care", "case", "city",
	"club", "cold", "come", "cost", "dark", "data", "dead", "deal", "deep", "door", "down", "draw", "each", "east", "easy", "edge",
	"even", "ever", "face", "fact", "fall", "farm", "fast", "feel", "feet", "felt", "file", "fill", "film", "find", "fine", "fire",
	"fish", "five", "food", "foot", "form", "four", "free", "from", "full", "game", "gave", "girl", "give", "goes", "gold", "gone",
	"good", "gray", "grew", "hair", "half", "hall", "hand", "hard", "have", "head", "hear", "heat", "held", "help", "here", "high",
	"hill", "hold", "home", "hope", "hour", "idea", "into", "iron", "just", "keep", "kept", "kind", "king", "knew", "know", "lady",
	"lake", "land", "last", "late", "lead", "left", "less", "life", "like", "line", "list", "live", "long", "look", "lord", "lost",
	"love", "made", "main", "make", "many", "mark", "mass", "mean", "meet", "mind", "mile", "milk", "mine", "miss", "moon", "more",
	"most", "move", "much", "must", "name", "near", "need", "next", "nine", "note", "once", "only", "open", "over", "page", "pain",
}
