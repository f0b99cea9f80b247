"""Word lists and inflections from which `corpus` composes its part of the training text."""

from __future__ import annotations


def listed(text: str) -> list[str]:
    """Return the words of `text`."""
    return text.split()


NAMES = listed(
    """
Ada Alan Alice Amina Anna Ben Bob Carlos Carol Chen Clara Daniel David Diana Elena Emma Eric Eva
Felix Fatima Frank George Grace Hana Hugo Ines Ivan Jack James Jane Jin Joe John Julia Karim Kate
Laura Leo Lina Lucas Maria Mark Mary Max Mei Mia Mike Nadia Nina Noah Olga Oscar Paul Peter Priya
Rosa Sam Sara Sofia Tom Vera Victor Yuki Zoe
"""
)

CITIES = listed(
    """
Amsterdam Athens Austin Bangkok Barcelona Beijing Berlin Boston Brussels Cairo Chicago Copenhagen
Dallas Delhi Denver Dublin Geneva Hamburg Helsinki Istanbul Jakarta Kyoto Lagos Lima Lisbon London
Madrid Manila Melbourne Milan Montreal Mumbai Munich Nairobi Oslo Paris Prague Rome Seattle Seoul
Shanghai Singapore Stockholm Sydney Tokyo Toronto Vienna Warsaw Zurich
"""
)

COUNTRIES = listed(
    """
Argentina Australia Austria Belgium Brazil Canada Chile China Denmark Egypt Finland France Germany
Greece India Indonesia Ireland Israel Italy Japan Kenya Korea Mexico Morocco Netherlands Nigeria
Norway Pakistan Poland Portugal Russia Spain Sweden Switzerland Thailand Turkey Ukraine Vietnam
"""
)

ORGS = listed(
    """
Bluefin Brightwater Cedar Clearpath Copperleaf Driftwood Eastgate Fieldstone Greenway Harbor
Highland Ironwood Juniper Lakeside Meadow Northfield Oakline Pinecrest Redwood Riverside
Silverline Summit Sunrise Westbrook
"""
)

MONTHS = listed(
    """
January February March April May June July August September October November December
"""
)

WEEKDAYS = listed("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

NOUNS = listed(
    """
ability action activity age agency air airline airport American amount analysis animal answer apple
approach area arm art article artist attention author authority autumn baby back bank basket
battery beach bed behavior benefit bicycle bill birthday board body book bottle bowl box bread
breakfast bridge brother building business cake call camera campaign candle car career carpet case
center chair chance change character cheese child choice church city class clock cloud coffee
college color community company computer concern concert condition control cost country couple
course court culture cup dark data daughter day deal death decade decision degree delivery design
desk development difference dinner director disease doctor dog door east economy education effect
effort election elephant end energy engine environment evening event example experience eye face
fact factor family farm father feeling field figure film fire fish floor flower foot force forest
form friend fruit fund furniture future game garden glass glove goal government grass ground group
growth guitar hair hand hat head health heart history holiday home horse hospital hotel hour house
husband idea image individual industry information instrument interest island issue jacket job
kettle keyboard kind kitchen knife knowledge ladder lamp land language law lawyer leader leg lemon
letter level library life light line list loss love luggage lunch magazine man market material
matter media meeting member message mind minute mirror moment money month morning mother mountain
mouse movement movie museum music name nation nature need needle news newspaper night north number
ocean office officer official oil operation opportunity orange order others oven page paper parent
part party patient pencil people performance period person phone piano picture piece pillow place
plan planet plant plate player pocket point policy population position potato power practice
president pressure price problem product professor program project quality question race rain rate
reason recipe record region relationship report research resource response rest restaurant result
ribbon right risk river road role roof room rule salad scene school scissors season second section
sense series service shirt shoe show side sign sister site situation size skill snow society sofa
son song sort sound soup source south space sport spring staff stage standard star state station
step stock store story strategy street student study subject success sugar summer support sweater
system table tax teacher team technology television term test theatre thing thought ticket time
tomato top tower town trade train training treatment tree truth type umbrella value vegetable view
village voice wall wallet war water way weather week weekend west wheel wind window winter woman
word work worker world year
"""
)

TECH = listed(
    """
account accuracy address alert archive argument array assertion attribute backup batch bit boolean
branch buffer build button byte cache calendar callback certificate channel charset chart checkbox
cipher class client cluster column commit compiler completion component configuration connection
constant container controller cookie cpu cursor customer dashboard database dataset date dependency
deployment dialog dictionary digest directory disk document domain duration edge embedding encoding
endpoint environment epoch error event exception extension feature field file filename firewall
fixture flag float folder form format frame function gateway gradient grammar graph handler hash
header host image index input instance integer interface interpreter interval inventory invoice job
key label layer lexer library list listener lock log loss map matrix memory menu merge message
method metric middleware migration model module network node object option order output package
packet page parameter parser password path payment permission pixel pod pointer policy port process
product promise prompt property protocol proxy query queue register release replica report
repository request response retry role route router row runtime sample sampler schedule schema
screen secret server service session set setting shipment signature snapshot socket stream string
table task template tensor test thread timeout timestamp token trace tree tuple user username value
variable vector version view volume warning widget window worker
"""
)

VERBS = listed(
    """
accept add allow answer appear apply ask assign attach avoid believe build call cancel change check
clean clear close collect compare compile complete compute configure connect consider contain
convert copy count create decide declare define delete deliver deploy describe design detect
develop disable discover display download enable encode ensure enter evaluate examine execute
expect explain export extract fail fetch fill filter find finish fix follow format generate handle
happen help ignore implement import improve include increase indicate initialize insert install
invoke iterate join keep launch learn limit listen load locate lock look maintain manage match
measure merge move name need notify obtain offer open order parse pass perform place play prepare
prevent print process produce protect provide publish push query raise reach read receive record
reduce refresh register reject release reload remain remember remove rename render repeat replace
report request require reset resolve respond restart restore return review sample save schedule
search select send serve share show sign skip solve sort start stay store submit suggest support
talk test think trace track transfer transform travel trigger try update upload use validate verify
view visit wait walk want watch work
"""
)

ADJECTIVES = listed(
    """
able active additional available average bad basic beautiful best better big black blue bright
brown busy certain cheap clean clear close cold common complete complex correct current dangerous
dark deep default different difficult dry early easy empty entire equal essential exact expensive
external fair familiar famous fast few final fine first flat following foreign free fresh friendly
full general global good great green happy hard healthy heavy helpful high hot huge human important
independent individual initial interesting internal international invalid large last late latest
light likely little local long low main major medical missing modern multiple narrow national
natural necessary new next nice normal obvious old online only open optional ordinary original
other own perfect personal physical poor popular possible powerful present previous private
professional proper public quick quiet random ready real recent red regular reliable required
responsible rich round safe same separate serious several short significant similar simple single
slow small social soft special specific stable standard strange strong successful sudden suitable
sure tall temporary thin top total traditional typical unique unknown useful usual valid various
virtual visible warm weak white whole wide wrong yellow young
"""
)

ADVERBS = listed(
    """
about again almost already also always automatically away carefully certainly clearly completely
correctly currently directly easily enough especially even eventually exactly finally first
frequently generally here immediately instead just later maybe mostly never now often once only
perhaps probably quickly quietly quite rather really recently sometimes soon still successfully
suddenly then there today together tomorrow tonight too twice usually very well yesterday yet
"""
)

KEYS = listed(
    """
id name email created_at updated_at price items status address type value title description url
user user_id username first_name last_name full_name phone age date time timestamp city state
country zip postal_code street latitude longitude location currency amount total quantity sku
product product_id order order_id customer customer_id category tags label labels count size
width height weight color image images thumbnail content body text message messages role code
error errors data result results response request method path query params headers host port
protocol version language locale timezone format enabled disabled active visible required optional
default properties additionalProperties minimum maximum minLength maxLength pattern enum const
anyOf oneOf allOf items $schema $ref $id definitions arguments parameters function tool tool_calls
model prompt completion temperature max_tokens top_p stop stream usage prompt_tokens total_tokens
choices index finish_reason score rating reviews author authors publisher published year month day
start end start_time end_time start_date end_date duration deadline priority owner assignee members
group groups permissions token access_token refresh_token expires_in session_id password hash
checksum file filename file_name file_size mime_type directory config settings options metadata
parent parent_id children source target key keys values config_path output input unit units min max
mean average limit offset page page_size next previous has_more callback event event_type payload
level logger thread process_id exit_code retries timeout ip ip_address user_agent referrer domain
account account_number balance payment payment_method invoice shipping billing discount tax
subtotal is_active is_admin is_valid department position salary skills education experience
company website bio avatar gender birth_date nationality temperature humidity pressure wind_speed
"""
)

STATUSES = listed(
    """
active inactive pending completed failed cancelled open closed draft published archived running
queued success error shipped delivered processing approved rejected unknown low medium high
critical normal admin user guest assistant system string number integer boolean object array null
red green blue black white small large USD EUR GBP JPY en fr de es kg cm
"""
)

LOG_LEVELS = listed("DEBUG INFO INFO INFO WARN WARNING ERROR ERROR FATAL TRACE NOTICE")

FOREIGN = listed(
    """
café naïve résumé façade jalapeño crème brûlée déjà vu fiancée über Straße Zürich München Köln
schön für müssen können Größe äöü heißt Grüße señor mañana niño año corazón también España
información número São Paulo coração não ação está você até çok güzel İstanbul şehir język źródło
łódź żółty część být příklad žluťoučký kůň Ångström smörgåsbord været sœur cœur œuvre garçon
où été être même élève après voilà ça monde bonjour merci hallo welt danke guten Morgen gracias
hola mundo buenos días obrigado ciao grazie perché città più però Ελλάδα καλημέρα κόσμε Αθήνα
γλώσσα привет мир Москва спасибо язык слово город время человек это для что как Київ мова дякую
שלום עולם مرحبا بالعالم اللغة العربية नमस्ते दुनिया भारत สวัสดี 你好 世界 中国 中文 语言 时间 北京 上海
谢谢 我们 你们 他们 こんにちは 世界 日本 日本語 東京 ありがとう です ます した して テスト データ
한국어 안녕하세요 세계 서울 감사합니다 데이터
"""
)

SYMBOLS = listed(
    """
😀 😂 😊 😍 🤔 🙏 👍 👋 🎉 🚀 🔥 ✨ ✅ ❌ ⚠️ ❤️ 💡 🐍 🌍 ☕ → ← ↑ ↓ ⇒ ≤ ≥ ≠ ≈ ± × ÷ ∞ ∑ √ π µ α β γ
λ Δ Ω ° § © ® ™ € £ ¥ ¢ « » “ ” ‘ ’ … – — • · ½ ² ³ █ ─ │ ├ └
"""
)

EXTENSIONS = listed("py js ts json txt md html css c h cpp rs go java sh sql csv xml yaml toml log")

MODULES = listed(
    """
os sys re json math time datetime logging random pathlib typing itertools functools collections
argparse subprocess numpy pandas torch requests pytest asyncio dataclasses unittest
"""
)

IRREGULAR_PAST = {
    "build": "built",
    "find": "found",
    "keep": "kept",
    "read": "read",
    "send": "sent",
    "show": "showed",
    "think": "thought",
}

DOUBLED_STEMS = frozenset(["stop", "skip", "submit", "transfer"])

IRREGULAR_PLURALS = {
    "child": "children",
    "foot": "feet",
    "index": "indices",
    "knife": "knives",
    "leg": "legs",
    "life": "lives",
    "man": "men",
    "money": "money",
    "news": "news",
    "people": "people",
    "person": "people",
    "woman": "women",
}


def third_person(verb: str) -> str:
    """Inflect `verb` for he, she or it."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def past_tense(verb: str) -> str:
    """Inflect `verb` for the past."""
    if verb in IRREGULAR_PAST:
        return IRREGULAR_PAST[verb]
    if verb in DOUBLED_STEMS:
        return verb + verb[-1] + "ed"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def participle(verb: str) -> str:
    """Inflect `verb` to its -ing form."""
    if verb in DOUBLED_STEMS:
        return verb + verb[-1] + "ing"
    return (verb[:-1] if verb.endswith("e") else verb) + "ing"


def plural(noun: str) -> str:
    """Inflect `noun` for more than one."""
    return IRREGULAR_PLURALS.get(noun) or third_person(noun)
