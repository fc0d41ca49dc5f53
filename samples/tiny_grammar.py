"""A seeded grammar of small stories: one table of rules that writes sentences and recognises them.

A rule's body holds plain words and the names of other rules or word lists. Spelling (capitals, quotes, a/an) is
a layer of its own, `spell` and its inverse `read`: the rules say only which words may follow which.
"""

import random
import re
import zlib
from collections.abc import Iterator
from functools import cache

# Each list runs from common to rare. Nouns and verbs are regular unless a slash gives the other form.
NAMES = {
    "NAME.he": """Pip Tom Ben Sam Max Leo Finn Oscar Hugo Jack Milo Otto Toby Rufus Felix Barnaby Gus Ned
        Theo Basil Victor Silas Monty Angus Jasper""",
    "NAME.she": """Lila Mia Rosie Nell Anna Ivy Daisy Ella Luna Poppy Clara Hazel Ruby Olive Molly Tilly
        Greta Wendy Flora Maud Isla Bea Hetty Petra Marigold Dot""",
}
ADJECTIVES = {
    "CHARACTER": """small little brave clever kind young old shy quiet lazy gentle proud curious hungry
        cheerful grumpy wise sleepy silly polite careful clumsy friendly noisy stubborn nervous playful
        timid plump patient bold bossy dreamy fluffy graceful helpful jolly lonely loyal merry modest
        naughty nimble restless shaggy skinny sly spotted thoughtful vain weary whiskered generous elegant
        agile sleek greedy furry""",
    "FEELING": """happy sad tired glad afraid angry surprised excited cold lonely worried hungry sorry proud
        thirsty calm warm bored cross grateful puzzled pleased ashamed anxious delighted dizzy frightened
        jealous lucky miserable muddy peaceful relieved satisfied soaked startled uneasy upset""",
    "SHAPE": """big red old golden blue little tiny heavy shiny green broken silver yellow round wooden new
        white black pretty soft sweet wet long brown empty large purple smooth strange warm dusty pink rusty
        crooked dirty enormous fine flat fresh grey hollow icy light magic narrow orange plain rough sharp
        short silky simple sparkling square sticky striped strong thick thin velvet wide woollen bent bright
        cracked crimson delicate faded glittering knotted painted patched polished precious ragged scarlet
        speckled splendid tangled tattered twisted valuable wrinkled fragile juicy spicy silvery funny
        walled""",
    "WEATHER": """sunny rainy windy cold warm foggy snowy bright dark stormy cloudy frosty quiet misty grey
        golden chilly dull drizzly icy""",
}
NOUNS = {
    "ANIMAL": """fox mouse/mice bear owl rabbit cat dog frog duck bird hedgehog squirrel badger goat pig hen
        wolf/wolves mole turtle otter pony horse donkey lamb goose/geese beaver crow snail bee ant robin
        lion tiger elephant monkey kitten puppy hare toad swan sparrow raven weasel lizard beetle butterfly
        spider cricket parrot penguin camel giraffe hamster dragon piglet chick calf/calves cub seal whale
        magpie heron dormouse/dormice stork caterpillar grasshopper nightingale tortoise wasp turkey""",
    "BOY": """boy prince baker farmer king miller fisherman tailor clerk shepherd woodcutter gardener
        blacksmith""",
    "GIRL": "girl princess queen baker witch farmer weaver painter gardener shepherd dancer milkmaid",
    "THING": """key ball lantern hat boat apple box cake book basket stone flower bell nut kite leaf/leaves
        berry shoe letter cup feather shell drum egg spoon coat map pot ring button blanket bag ladder
        pumpkin mirror carrot candle cheese cloak coin crown acorn bucket chair chest clock comb cookie flag
        flute glove hammer jar kettle marble mushroom necklace onion pancake pear pebble pencil pie pillow
        plate plum potato/potatoes ribbon rope sack scarf/scarves shovel sock stick teapot toy trumpet
        umbrella wagon wheel whistle barrel bottle bowl bracelet brush cherry compass cushion diamond doll
        fiddle fork lemon lamp parcel peach pearl picture puppet puzzle quilt rattle saddle
        sandwich/sandwiches slipper spade stool sweater table telescope thimble turnip violin walnut
        chestnut pinecone lollipop biscuit bonnet broom buckle dumpling emerald kerchief paintbrush snowball
        tambourine wheelbarrow windmill wand sledge album almond column saucer sausage fountain jelly daisy
        rafter""",
    "PLACE": """forest river garden hill lake house village tree field cave bridge meadow sea barn mountain
        pond road valley market mill well wood castle island beach orchard tower farm fence gate hedge path
        stream swamp town wall waterfall shore school harbour stable desert canyon cellar church cliff
        courtyard glade kitchen library lighthouse marsh palace playground ruin thicket vineyard
        workshop""",
    "HOME": """house cottage den nest burrow hut cave tent barn cabin tower hole tree mill palace shed attic
        wagon""",
}
VERBS = {
    "MOVE": """go/went run/ran walk come/came hurry jump climb swim/swam fly/flew hop/hopped march wander
        crawl dance creep/crept race skip/skipped roll sail slide/slid trot/trotted travel/travelled rush
        stroll tiptoe limp stumble dash gallop drift slip/slipped sneak wade waddle scurry scramble
        plod/plodded stagger tumble bounce flutter glide paddle shuffle canter thump sprint swoop trudge
        toddle saunter""",
    "HANDLE": """find/found take/took see/saw lose/lost carry want hide/hid open like love hold/held
        bring/brought keep/kept make/made clean drop/dropped wash fix need paint pull push share
        buy/bought break/broke catch/caught choose/chose draw/drew lift remember mend pick touch throw/threw
        forget/forgot follow watch borrow bury count cover fetch fill grab/grabbed guard kick move notice
        pack polish save sell/sold shake/shook steal/stole tie/tied admire balance collect decorate destroy
        discover drag/dragged dust empty examine fold hang/hung inspect kiss lend/lent measure nibble offer
        ornament point protect repair rescue return scratch sketch smell sniff squeeze stretch sweep/swept
        swing/swung tap/tapped toss treasure trade twist unwrap/unwrapped wave weigh wipe wrap/wrapped
        praise bump grasp greet recite memorise recall plough convince""",
    "REST": """sleep/slept sing/sang play laugh eat/ate sit/sat smile cry wait dream rest dance read/read
        cook dig/dug nap/napped work yawn think/thought listen whistle hum/hummed stop/stopped shout sigh
        talk tremble giggle grin/grinned snore whisper wonder wink chatter clap/clapped cough doze grumble
        juggle mumble pray shiver sneeze sob/sobbed stare stretch study weep/wept wriggle knit/knitted argue
        blush chuckle murmur pause gasp joke burp""",
}
OTHERS = {
    "ADVERB": """quickly slowly happily quietly softly sadly loudly gently carefully well bravely suddenly
        again kindly proudly angrily gladly politely secretly lazily eagerly badly calmly cheerfully
        cleverly clumsily hungrily merrily nervously neatly patiently peacefully silently sleepily swiftly
        thoughtfully warmly wearily wildly gracefully anxiously foolishly gratefully""",
    "SKY": "sun moon wind rain snow star cloud storm fog breeze thunder rainbow sunlight moonlight",
    "SHONE": """shone sang blew danced whispered glowed sparkled drifted faded roared trembled vanished
        twinkled""",
    "NUMBER": "two three four five six seven ten eight nine many some twelve several twenty",
    "NEAR": "near by behind under beside above beyond below",
    "TOWARDS": "to into across past through around towards along over",
    "DEGREE": "very so quite rather really terribly extremely",
    "TASTE": "apples cakes berries cheese honey soup bread nuts milk jam porridge tea butter fish carrots pudding",
    "DAYTIME": "morning day evening night afternoon summer spring autumn winter",
}

# A line with a star counts three times: the star becomes .he, .she and .they, and a/b/c becomes a, b and c. So
# names, pronouns and verbs agree. An alternative written twice is chosen twice as often.
RULES = """
SENTENCE   = OPENING* | TRAIT* | EVENT* | DEED* | REASON* | SPEECH* | ENDING*
SENTENCE   = MEETING.he | MEETING.she | SCENE

HE*        = he/she/they
HIS*       = his/her/their
HIM*       = him/her/them
WAS*       = was/was/were
OTHER*     = NAME.she/NAME.he/friends
NAME.they  = NAME.he and NAME.she | NAME.she and NAME.he
NEW.he     = a CHARACTER KIND.he named NAME.he
NEW.she    = a CHARACTER KIND.she named NAME.she
KIND.he    = ANIMAL | ANIMAL | BOY
KIND.she   = ANIMAL | ANIMAL | GIRL
NEW.they   = two CHARACTER ANIMAL.many named NAME.they
WHO*       = NAME* | HE*
ITEM       = a SHAPE THING | a THING | a SHAPE and SHAPE THING
ITEMS      = NUMBER SHAPE THING.many | NUMBER THING.many
SPOT       = NEAR the PLACE | NEAR a SHAPE PLACE
WAY        = TOWARDS the PLACE | TOWARDS the PLACE | TOWARDS the PLACE | TOWARDS a SHAPE PLACE | to TOWN
WHEN       = one DAYTIME | one WEATHER DAYTIME | the next DAYTIME | that DAYTIME | on a WEATHER day

OPENING*   = once upon a time there WAS* NEW* . | once upon a time there WAS* NEW* .
OPENING*   = long ago there WAS* NEW* . | in TOWN there lived NEW* . | there once WAS* NEW* .
TRAIT*     = WHO* WAS* DEGREE CHARACTER . | WHO* WAS* CHARACTER and CHARACTER . | WHO* had ITEM .
TRAIT*     = WHO* lived in a SHAPE HOME SPOT . | WHO* liked to REST SPOT . | WHO* loved HIS* SHAPE THING .
TRAIT*     = every DAYTIME WHO* MOVE.past WAY . | WHO* liked TASTE and TASTE .
EVENT*     = WHEN WHO* MOVE.past WAY . | WHEN WHO* HANDLE.past ITEM SPOT . | WHEN WHO* HANDLE.past ITEMS .
MEETING.he = there he met NEW.she . | SPOT he saw NEW.she .
MEETING.she = there she met NEW.he . | SPOT she saw NEW.he .
DEED*      = WHO* HANDLE.past the THING and MOVE.past WAY . | WHO* MOVE.past WAY and HANDLE.past ITEM .
DEED*      = ADVERB WHO* HANDLE.past HIS* THING . | WHO* HANDLE.past the SHAPE THING ADVERB .
DEED*      = WHO* wanted to HANDLE the THING , but it was too SHAPE . | WHO* REST.past ADVERB SPOT .
DEED*      = WHO* tried to HANDLE the THING.many , but they were too SHAPE .
REASON*    = WHO* WAS* FEELING because HE* had lost HIS* SHAPE THING .
REASON*    = when NAME* saw the SHAPE THING , HE* WAS* FEELING . | the ANIMAL gave HIM* ITEM .
REASON*    = WHO* could not REST because HE* WAS* FEELING .
REASON*    = the CHARACTER ANIMAL.many helped HIM* to HANDLE the THING .
SCENE      = the THING was SHAPE and SHAPE . | the THING.many were SHAPE and SHAPE . | there was ITEM SPOT .
SCENE      = there were ITEMS SPOT . | the SKY SHONE ADVERB . | the SKY SHONE WAY .
SCENE      = the CHARACTER ANIMAL REST.past ADVERB . | NUMBER ANIMAL.many MOVE.past WAY .
SPEECH*    = NAME* said , " LINE . " | NAME* said , " LINE . " | " LINE , " said NAME* .
SPEECH*    = NAME* asked , " QUESTION ? " | NAME* called , " CALL* ! "
LINE       = I want to HANDLE the THING | I can REST ADVERB | I am FEELING | I will HANDLE your THING
LINE       = we must MOVE WAY | you are DEGREE CHARACTER | my THING is SPOT | the THING is SHAPE
LINE       = the THING.many are SHAPE | the ANIMAL HANDLE.s my THING | the ANIMAL.many HANDLE my THING
LINE       = the ANIMAL MOVE.s WAY | the ANIMAL.many REST SPOT
QUESTION   = where is my SHAPE THING | where are the THING.many | can you HANDLE the THING
QUESTION   = why are you so FEELING | does the ANIMAL REST SPOT | do the ANIMAL.many HANDLE ITEMS
CALL*      = OTHER* , look at the SHAPE THING.many | OTHER* , please HANDLE the THING
CALL*      = what a SHAPE THING | look at the SHAPE THING.many | let us MOVE WAY | please HANDLE the THING
ENDING*    = from that day on NAME* WAS* never FEELING again . | in the end NAME* WAS* FEELING and FEELING .
ENDING*    = then WHO* MOVE.past home and REST.past ADVERB . | at last WHO* HANDLE.past HIS* THING and REST.past .
ENDING*    = after that WHO* always HANDLE.past HIS* THING ADVERB .
"""

# A town is called any noun or adjective with one of these behind it: Foxford, Quietham.
TOWN_ENDINGS = ("wick", "ford", "ham", "ton", "bury", "field", "side", "stead")
HELD_OUT_ONE_IN = 16
VOWELS = "aeiou"


# ---- from the tables to words and rules


def plural(noun: str) -> str:
    """The regular plural: key keys, berry berries, fox foxes."""
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh", "o")) else "s")


def past(verb: str) -> str:
    """The regular past tense: walk walked, smile smiled, carry carried."""
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def by_rank(words: list[str]) -> dict[str, float]:
    """Words with weights that fall with their rank, as word frequencies do (Zipf's law)."""
    return {word: (rank + 3) ** -1.4 for rank, word in enumerate(words)}


def word_lists() -> dict[str, dict[str, float]]:
    """List name -> word -> weight, with the inflected lists NOUN.many, VERB.s and VERB.past."""
    lists = {name: by_rank(text.split()) for name, text in (NAMES | ADJECTIVES | OTHERS).items()}
    for name, text in (NOUNS | VERBS).items():
        pairs = [entry.partition("/")[::2] for entry in text.split()]
        lists[name] = by_rank([word for word, _ in pairs])
        if name in NOUNS:
            lists[f"{name}.many"] = by_rank([other or plural(word) for word, other in pairs])
        else:
            # The third person singular takes the plural's ending: carries, fixes, sees.
            lists[f"{name}.s"] = by_rank([plural(word) for word, _ in pairs])
            lists[f"{name}.past"] = by_rank([other or past(word) for word, other in pairs])
    firsts = [word for name in (*NOUNS, *ADJECTIVES, "DAYTIME", "SKY") for word in lists[name]]
    lists["TOWN"] = {first.capitalize() + last: 1.0 for first in firsts for last in TOWN_ENDINGS}
    return lists


def by_number(line: str) -> list[str]:
    """A line of the rules for he, for she and for they, where it has a star; else the line alone."""
    if "*" not in line:
        return [line]
    ways = [re.sub(r"(\S+)/(\S+)/(\S+)", rf"\{number}", line) for number in (1, 2, 3)]
    return [way.replace("*", ending) for way, ending in zip(ways, (".he", ".she", ".they"), strict=True)]


def rule_table() -> dict[str, list[list[str]]]:
    """Rule name -> its alternatives, each a list of symbols."""
    table: dict[str, list[list[str]]] = {}
    for line in filter(None, RULES.splitlines()):
        for name, _, body in (variant.partition("=") for variant in by_number(line)):
            table.setdefault(name.strip(), []).extend(part.split() for part in body.split("|"))
    return table


WORDS = word_lists()
GRAMMAR = rule_table()
PROPER = {"I", *(word for words in WORDS.values() for word in words if word[0].isupper())}


# ---- spelling


def spell(words: list[str]) -> str:
    """Words and marks as the rules give them, spelled: `a old fox ran .` becomes `An old fox ran.`"""
    text = re.sub(r"\ba (?=[aeiou])", "an ", " ".join(words))
    text = re.sub(r" (?=[,.!?])", "", text)
    text = re.sub(r'" (.*?) "', r'"\1"', text)
    # Only an opening quote has a letter right behind it.
    return re.sub(r'(^|")[a-z]', lambda start: start.group().upper(), text)


def read(sentence: str) -> list[str]:
    """The words and marks that `spell` would turn into this sentence, if any would."""

    def lower(start: re.Match[str]) -> str:
        return start[0] if start[2] in PROPER else start[0].lower()

    text = re.sub(r'(^|")(\w+)', lower, sentence)
    return re.findall(r'\w+|[,.!?"]', re.sub(r"\ban\b", "a", text))


def split_sentences(text: str) -> list[str]:
    """The sentences of a text: up to `.`, `!` or `?` and a quote that closes right behind; then what is left."""
    return [found.strip() for found in re.findall(r'[^.!?]+(?:[.!?]"?|$)', text.strip())]


# ---- recognising


def parses(sentence: str) -> bool:
    """Whether the grammar can write this sentence, spelled exactly so."""
    words = read(sentence)
    return spell(words) == sentence and matches("SENTENCE", words) and not repeats(sentence)


def repeats(sentence: str) -> bool:
    """Whether it says the same word on both sides of an `and`."""
    return re.search(r"\b(\w+) and \1\b", sentence) is not None


def matches(symbol: str, words: list[str]) -> bool:
    """Whether `symbol` can become exactly these words, by a recursive search that remembers its findings."""

    @cache
    def ends(symbol: str, start: int) -> frozenset[int]:
        """Every place where a `symbol` that starts at `start` may end."""
        if symbol in GRAMMAR:
            return frozenset(end for body in GRAMMAR[symbol] for end in walk(body, start))
        fits = start < len(words) and words[start] in WORDS.get(symbol, (symbol,))
        return frozenset({start + 1} if fits else ())

    def walk(body: list[str], start: int) -> set[int]:
        places = {start}
        for part in body:
            places = {end for place in places for end in ends(part, place)}
        return places

    return len(words) in ends(symbol, 0)


# ---- writing

Cast = dict[str, list[str]]  # the few words of a list that one story uses


def draw(name: str, rng: random.Random, count: int = 1) -> list[str]:
    """Words of a list, the common ones more often."""
    return rng.choices(list(WORDS[name]), list(WORDS[name].values()), k=count)


def choose_cast(rng: random.Random) -> Cast:
    """One he and one she, so that a pronoun says who is meant, and a few things, places and animals."""
    sizes = {"NAME.he": 1, "NAME.she": 1, "THING": 3, "THING.many": 2, "PLACE": 3, "ANIMAL": 3}
    return {name: draw(name, rng, size) for name, size in sizes.items()}


def expand(symbol: str, rng: random.Random, cast: Cast) -> list[str]:
    """Words for `symbol`; the cast stands in for the lists it has words of."""
    if symbol in GRAMMAR:
        return [word for part in rng.choice(GRAMMAR[symbol]) for word in expand(part, rng, cast)]
    if symbol in cast:
        return [rng.choice(cast[symbol])]
    if symbol in WORDS:
        return draw(symbol, rng)
    return [symbol]


def is_held_out(sentence: str) -> bool:
    """Whether a sentence is kept for validation: its checksum decides, so no sentence is on both sides."""
    return zlib.crc32(sentence.encode()) % HELD_OUT_ONE_IN == 0


def write_sentence(rng: random.Random, symbol: str, cast: Cast, held_out: bool) -> str:
    """The first good sentence drawn from `symbol` that is on the wanted side of `is_held_out`."""
    while True:
        sentence = spell(expand(symbol, rng, cast))
        if is_held_out(sentence) == held_out and not repeats(sentence):
            return sentence


def write_story(rng: random.Random, held_out: bool = False) -> str:
    """A story of two lines: who there was and what they were like; what happened to them one day."""
    cast = choose_cast(rng)
    hero, friend = rng.choice([("he", "she"), ("she", "he"), ("he", "she"), ("she", "he"), ("they", "they")])
    opening = [f"OPENING.{hero}", *rng.choices([f"TRAIT.{hero}", "SCENE"], [3, 1], k=rng.choice([1, 2]))]
    meeting = [] if hero == "they" else [f"MEETING.{hero}"]
    middle = [f"{kind}.{who}" for kind in ("DEED", "REASON", "SPEECH") for who in (hero, friend)] + ["SCENE"]
    events = [f"EVENT.{hero}", *meeting, *rng.sample(middle, k=rng.choice([2, 3, 4])), f"ENDING.{hero}"]
    lines = ([write_sentence(rng, symbol, cast, held_out) for symbol in line] for line in (opening, events))
    return "\n".join(map(" ".join, lines))


def write_stories(count: int, seed: int, held_out: bool = False) -> Iterator[str]:
    """`count` stories, the same for the same seed."""
    rng = random.Random(seed)
    return (write_story(rng, held_out) for _ in range(count))


def word_forms(text: str) -> set[str]:
    """The distinct words of a text, capitals aside."""
    return set(re.findall(r"\w+", text.lower()))
