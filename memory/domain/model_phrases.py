r"""The phrases by which a text gives orders to a model, in English and Turkish.

They are verbose regular expressions over plain text (lower-case ASCII), in which `~` stands for any gap
between words and `<name>` for one of the words listed under it. With each group stand its marks: without
one of them in the text it is not tried. Phrases are narrow on purpose: "ignore the noise in the left
channel" and "the printer's instructions" are facts. Every repetition is bounded or takes all it can.
"""

from __future__ import annotations

import re
from typing import NamedTuple

IGNORES = "tells to ignore instructions"
REVEALS = "asks to reveal instructions or secrets"
CONCEALS = "asks to keep something from people"
CALLS = "asks to call a tool"
TURNS = "changes the role of the model"
MARKS_ROLE = "fakes a role marker"

_WORDS = {
    "ignore": "ignore|disregard|forget|override|bypass|neglect|(?:do~not|don't|dont)~(?:follow|obey)",
    "strong": "previous(?:ly)?|prior|above|preceding|earlier|foregoing|former|existing|original|initial|past"
    "|current|all|any|every|your|system|safety|developer",
    "fill": "all|any|every|each|of|the|your|these|those|my|our|other|given|and|or|previous(?:ly)?|prior|above"
    "|preceding|earlier|existing|original|initial|current|system|safety|developer",
    "rules": "instructions?|prompts?|rules?|directions?|directives?|guidelines?|guardrails?|commands?|orders"
    "|constraints?|restrictions?|programming|guidance|safeguards?|training",
    "past": "of|that|which|you|i|we|was|were|is|are|have|has|been|the|in|this|conversation|to",
    "show": "reveal|show|print|repeat|output|display|leak|expose|disclose|recite|share|send|return"
    "|(?:write|read)~out|(?:give|tell)~(?:me|us)",
    "own": "me|us|all|of|the|your|its|full|entire|exact|whole|complete|contents?|text|back|verbatim|hidden"
    "|secret|original|initial|above|any|to|own",
    "hidden": "system|developer|hidden|initial|original|secret|pre",
    "secrets": "secrets?|api~keys?|credentials?|passwords?|tokens?|private~keys?|environment~variables?",
    "people": "users?|humans?|reviewers?|operators?|person|owners?",
    "never": "do~not|don't|dont|never",
    "free": "unrestricted|unfiltered|uncensored|jailbroken|dan|evil",
    "tool": "tools?|functions?|plugins?",
    # An imperative stands where a sentence begins, or behind a word that demands.
    "demand": r"(?:\A|[.!?:;\n>)\]])\s{0,8}|\b(?:you|then|now|immediately|must|should|please|to)[\s,]{1,4}",
    "word": "[a-z]{1,14}",
    "scope": "onceki|yukaridaki|tum|butun|eski|mevcut|sistem|guvenlik|verilen|asil|simdiye~kadarki",
    "rule": "(?:talimat|yonerge|yonlendirme|komut|kural|istem|prompt|direktif)[a-z]{0,12}",
    "undo": "(?:yok~say|gormezden~gel|gecersiz~(?:say|kil)|bos~?ver|birak|unut)<ask>"
    "|(?:goz~ardi|iptal)~e(?:t|din)(?:iz)?",
    "refuse": "dikkate~alma|hesaba~katma|umursama|uyma|takip~etme",
    "tell": "goster|acikla|yaz|yazdir|soyle|paylas|ifsa~et|listele|aktar|sizdir",
    "silence": "soyleme|bildirme|haber~verme|bahsetme|belli~etme|anlatma",
    "ask": "(?:in|un|yin|iniz|unuz|yiniz|sana)?",
    # The Turkish negative imperative is a noun too ("uyma zorunluluğu"), unless the clause ends there.
    "stop": r"(?:yin|yiniz)\b|\b(?=\s{0,8}(?:\Z|[.!?,;:\n]|ve\b))",
    # The start of a line, whatever quotes, lists or emphasis stand there.
    "line": r"(?:\A|\n)[\s>*_\#\"'-]{0,8}",
    "role": "system|assistant|developer|sistem|asistan",
}
_WRITTEN = (
    (
        IGNORES,
        "ignore disregard forget override bypass neglect follow obey",
        r"""
        \b<ignore>(?:~<fill>){0,6}~<strong>(?:~<fill>){0,5}~<rules>\b
        | \b<ignore>(?:~(?:the|of|these|those)){0,3}~<rules>~(?:above|before|so~far|you)\b
        | \b<ignore>(?:~about)?~(?:everything|anything|all)(?:~<past>){0,6}
            ~(?:above|before|previously|prior|earlier|so~far|until~now|told|said|know|learned)\b
        | \b<ignore>~the~(?:above|foregoing|preceding)(?=\s{0,4}(?:\Z|[.!,;:\n]|and\b))
        """,
    ),
    (
        REVEALS,
        "prompt your reveal leak expose disclose exfiltrate dump",
        r"""
        \b<show>(?:~<own>){0,6}~<hidden>~?prompts?\b
        | \b<show>(?:~<own>){0,5}~your(?:~<own>){0,3}(?:~(?:system|internal|custom|developer))?
            ~(?:instructions?|prompts?|guidelines|system~message|training~data)\b
        | \bwhat~(?:is|are|was|were)~your~(?:<own>~)?<hidden>~(?:prompt|instruction|message)s?\b
        | \b(?:reveal|leak|expose|disclose|exfiltrate|dump)(?:~<own>){0,4}~(?:your|users?'?s?)
            (?:~<word>){0,2}~<secrets>\b
        """,
    ),
    (
        CONCEALS,
        "tell inform alert notify warn let mention reveal disclose report show hide conceal keep",
        r"""
        \b(?:<never>|without)(?:~ever)?~(?:tell|inform|alert|notify|warn|let|telling|informing|notifying)
            (?:~(?:the|your|any|this))?~<people>\b
        | \b<never>~(?:mention|reveal|disclose|report|show)(?:~(?:this|that|it|these|any|of)){1,3}
            (?:~<word>){0,3}~to~(?:the|your|any)~<people>\b
        | \b(?:hide|conceal|keep)~(?:this|it|that|these|everything)(?:~<word>){0,3}
            ~from~(?:the|your|any)~<people>\b
        """,
    ),
    (
        CALLS,
        "tool function plugin",
        r"""
        <demand>(?:call|invoke|execute|trigger)(?:~(?:the|a|an|your|this|following))?
            (?:~[\w./:]{1,40}){0,2}~<tool>\b
        | <demand>(?:run|use)(?:~(?:the|your|following))?~(?:\w{1,30}[.:/_]\w{1,30}|your)~<tool>\b
        | <demand>(?:make|issue|emit|perform)~(?:a|the|this|these|following)~<tool>~calls?\b
        """,
    ),
    (
        TURNS,
        "you act behave respond pretend roleplay mode",
        r"""
        \byou~are~(?:now|no~longer|henceforth)(?:~(?:an?|the|in|my))?(?:~<word>){0,2}
            ~(?:<free>|assistant|ai|model|chatbot|bot|bound|restricted|(?:developer|god)~mode)\b
        | \b(?:act|behave|respond|pretend|roleplay)~(?:as|to~be|like)(?:~if~you~(?:are|were|had|have))?
            (?:~(?:an?|the|no))?(?:~<word>)?
            ~(?:<free>|ai|assistant|language~model|chatbot|restrictions|limits|filters)\b
        | \b(?:god|dan|jailbreak)~mode(?:~is)?(?:~now)?~(?:enabled|activated|on|active|unlocked)\b
        | \bfrom~now~on~you~(?:are|act|obey|respond|answer|(?:will|must|shall|should)
            (?:~(?:always|only|never))?
            ~(?:act|answer|respond|reply|obey|ignore|follow|comply|be|pretend|approve|accept|trust))\b
        | \byour~new~(?:system~)?(?:instructions?|task|role|goal|objective|directives?|prompt|identity
            |orders?)~(?:is|are|will~be)\b
        """,
    ),
    (
        IGNORES,
        "talimat yonerge yonlendirme komut kural istem prompt direktif sey hepsi tumu",
        r"""
        \b<scope>(?:~<word>){0,3}~<rule>(?:~<word>){0,2}~(?:<undo>\b|<refuse><stop>)
        | \b(?:yukaridaki|onceki|(?:buraya|simdiye)~kadarki)(?:~<word>){0,2}
            ~(?:her~?sey|hepsi|tumu|seyler)[a-z]{0,6}~<undo>\b
        """,
    ),
    (
        REVEALS,
        "sistem gizli baslangic ilk",
        r"\b(?:sistem|gizli|baslangic|ilk)(?:~<word>)?~<rule>(?:~<word>){0,3}~<tell><ask>\b",
    ),
    (
        CONCEALS,
        "kullanici insan operator denetci inceleyen yonetici",
        r"""
        \b(?:kullanici|insan|operator|denetci|inceleyen|yonetici)[a-z]{0,12}(?:~<word>){0,3}
            ~<silence><stop>
        """,
    ),
    (
        CALLS,
        "cagir tetikle calistir",
        r"""
        \b(?:arac|fonksiyon|islev|tool|eklenti)[a-z']{0,8}(?:~(?:hemen|simdi|derhal))?
            ~(?:cagir|tetikle|calistir)<ask>\b
        """,
    ),
    (
        TURNS,
        "artik bundan",
        r"""
        \b(?:artik|bundan~(?:sonra|boyle))(?:~<word>){0,4}
            ~(?:gibi~davran|rolunu~ustlen|rolune~gir|kurallara~bagli~degilsin)
        """,
    ),
    (
        MARKS_ROLE,
        ": [ < #",
        r"""
        <\|[a-z_]{2,24}\|>
        | \[/?inst\] | <</?sys>> | \[/?(?:system|assistant)(?:\smessage|\sprompt)?\]
        | \[(?:system|admin)\soverride\]
        | </?(?:system|assistant|developer)(?:[_-](?:prompt|message|reminder|instructions?))?>
        | </?(?:tool|function)_(?:calls?|response|results?|use)>
        | <line><role>(?:\s(?:message|prompt|mesaji|istemi))?[\s*_]{0,3}:
        | <line>(?:new|updated|additional|actual)\s(?:system\s)?instructions?\s?:
        | <line>yeni\s(?:sistem\s)?talimat(?:lar)?\s?:
        | \bsystem\s?:\s?(?:you|ignore|override|new|disregard)\b
        | ["']role["']\s{0,3}:\s{0,3}["'](?:system|assistant|developer|tool)["']
        | \#{3}\s?(?:instruction\b|(?:instructions|system|human|assistant|user|response|input)\s?:)
        """,
    ),
    (
        MARKS_ROLE,
        "begin start end",
        r"\b(?:begin|start|end)(?:~of)?(?:~the)?~(?:system|developer|hidden)~(?:prompt|instruction|message)s?\b",
    ),
)
# Words spelled out letter by letter are put together first, so there are no gaps and no edges.
_SPELLED_OUT = (
    (IGNORES, "", r"<ignore>(?:<fill>){0,6}<strong>(?:<fill>){0,5}<rules>"),
    (IGNORES, "", r"<scope>[a-z]{0,14}<rule><undo>"),
    (REVEALS, "", r"<show>(?:<own>){0,6}<hidden>prompt"),
)


class Phrase(NamedTuple):
    """`pattern` finds it in plain text; it cannot be where none of `marks` is."""

    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]


_GAP = r"""(?:(?:[\s*_"'`~,-]|\.(?!\s))++)"""


def _compiled(kind: str, marks: str, template: str, gap: str) -> Phrase:
    pattern = re.compile(_expanded(template).replace("~", gap), re.VERBOSE)
    return Phrase(kind, tuple(marks.split(" ")), pattern)


def _expanded(template: str) -> str:
    """`template` with the words for their names; the words of a name may hold names in turn."""
    while (expanded := _NAME.sub(lambda name: f"(?:{_WORDS[name[1]]})", template)) != template:
        template = expanded
    return template


_NAME = re.compile(rf"<({'|'.join(_WORDS)})>")

WRITTEN = tuple(_compiled(*group, gap=_GAP) for group in _WRITTEN)
SPELLED_OUT = tuple(_compiled(*group, gap="") for group in _SPELLED_OUT)
