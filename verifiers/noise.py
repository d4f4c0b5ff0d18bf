"""What applications write on their own: the one list of it, and how the settings among it are told apart.

Invariant: a path that no entry here names is nobody's noise. Four tables, read in this order:

`SETTINGS`  files that hold real settings beside window sizes and histories. They are compared key by key, and a
            key counts unless the table calls it noise (or, where churn has no bounds, only if it is a known setting).
`ACTIVE`    files that take effect by merely existing, so that creating one is as good as changing a setting.
`NOISE`     files that programs write and remove while merely being used: histories, caches, window state, locks.
`MADE`      files that mere use makes, and nothing but a person changes or removes: what was thrown away.

Histories are noise even where one was there before (`~/.bash_history`): shells cut and rewrite them at every exit. So
are Chromium's databases (`Cookies`, `Login Data`, `History`, `Web Data`): it writes them anew, expires what is in them
and encrypts it, so that their bytes tell nothing. A task that is about one of these reads it in its own verifier.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from defusedxml import ElementTree

Values = Mapping[str, str]  # key -> value of a settings file


@dataclass(frozen=True)
class Settings:
    """A settings file that noise shares.

    pattern: glob of its `~/` path. read: bytes -> values by key. noise: regular expression (matched at the start) of
    keys that programs change on their own. only: where given, only keys matching it count.
    sparse: it holds only what differs from the defaults, so that every key of a new one counts.
    defaults: the values of keys that it does not hold.
    """

    pattern: str
    read: Callable[[bytes], Values]
    noise: str = r"(?!)"
    only: str = ""
    sparse: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)

    def differences(self, before: bytes | None, after: bytes) -> list[str]:
        """Keys whose values differ and count, sorted. before: None for a new file. Raises ValueError (unreadable)."""
        new = {**self.defaults, **self.read(after)}
        if before is None and not self.sparse:
            return []
        old = {**self.defaults, **(self.read(before) if before is not None else {})}
        keys = sorted(k for k in {*old, *new} if old.get(k) != new.get(k))
        return [k for k in keys if not re.match(self.noise, k) and re.match(self.only, k)]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def read_ini(data: bytes) -> Values:
    """`section/key` -> value of an INI or key file. Comments (`#`, `;`) and order don't count."""
    section, values = "", {}
    for line in _text(data).splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line[1:].partition("]")[0].strip()
        elif "=" in line and line[0] not in "#;":
            key, _, value = line.partition("=")
            values[f"{section}/{key.strip()}"] = value.strip()
    return values


def read_lines(data: bytes) -> Values:
    """Each line that is not empty nor a comment (`#`, `;`) as a key, for files whose lines are entries (gimprc)."""
    lines = (" ".join(line.split()) for line in _text(data).splitlines())
    return {line: "" for line in lines if line and line[0] not in "#;"}


def read_registry(data: bytes) -> Values:
    """`path#property` -> value of LibreOffice's registrymodifications.xcu; a set's member counts by its own name."""
    oor = "{http://openoffice.org/2001/registry}"
    values = {}
    for item in ElementTree.fromstring(data):
        for child in item:
            if child.tag in ("prop", "node"):
                name = f"{item.get(f'{oor}path')}#{child.get(f'{oor}name')}"
                value = child.find("value")
                if child.tag == "prop" and value is not None and len(value) == 0:
                    values[name] = value.text or ""
                else:
                    values[name] = "".join(ElementTree.tostring(child, encoding="unicode").split())
    return values


def read_xfconf(data: bytes) -> Values:
    """`outer/inner` -> value of an xfconf channel file."""

    def walk(element: Any, path: str) -> Iterator[tuple[str, str]]:
        for child in element:
            here = f"{path}/{child.get('name')}".lstrip("/")
            items = [v.get("value") for v in child if v.tag == "value"]
            if child.get("value") is not None or items:
                yield here, f"{child.get('type')}:{child.get('value')}{items or ''}"
            yield from walk([c for c in child if c.tag == "property"], here)

    return dict(walk(ElementTree.fromstring(data), ""))


def read_json(data: bytes) -> Values:
    """`outer.inner` -> JSON of each leaf; lists are leaves."""

    def walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from walk(inner, f"{path}.{key}" if path else key)
        else:
            yield path, json.dumps(value, sort_keys=True)

    return dict(walk(json.loads(data), ""))


def read_bookmarks(data: bytes) -> Values:
    """`folder/folder/name` -> addresses of Chromium's Bookmarks; ids and times don't count."""
    values: dict[str, str] = {}

    def walk(node: Any, path: str) -> None:
        for child in node.get("children", ()):
            here = f"{path}/{child.get('name')}"
            values[here] = f"{values.get(here, '')} {child.get('url', 'folder')}"
            walk(child, here)

    for root, node in json.loads(data).get("roots", {}).items():
        if isinstance(node, dict):
            walk(node, root)
    return values


# what a person sets; Chromium counts and dates beside it on its own account, under safebrowsing and translate too
_CHROMIUM_SETTINGS = (
    r"homepage|session\.(restore_on_startup|startup_urls)$|browser\.(show_home_button|theme|custom_chrome_frame|"
    r"has_seen_welcome_page|clear_data)|bookmark_bar\.|default_search_provider|enable_do_not_track|"
    r"safebrowsing\.(enabled|enhanced|scout_reporting_enabled)|"
    r"webkit\.webprefs\.|profile\.(name|default_content_setting_values|cookie_controls_mode|"
    r"block_third_party_cookies|default_zoom_level)|download\.|intl\.(accept|selected)|"
    r"translate(\.|_(blocked|site_|allowlists|whitelists))|autofill\..*enabled|credentials_enable|https_only_mode|"
    r"extensions\.(theme|ui)|spellcheck\.|"
    r"search\.suggest_enabled|alternate_error_pages|net\.network_prediction|dns_over_https|tab_search|"
    r"partition\.default_zoom_level|profile\.info_cache\..*\.name$|intl\.app_locale$"
)

_OFFICE_NOISE = (
    r"/org\.openoffice\.Office\.(Histories|Views|Recovery|Jobs|ExtensionManager|UI\.Sidebar|UI\.\w*WindowState)\b"
    r"|/org\.openoffice\.Office\.(\w+/Dialogs/|Calc/(SortList|Input#LastFunctions))"
    r"|/org\.openoffice\.Office\.Common/(SearchOptions|UserColors#Recent|_|Filter/\w+/Export)"
    r"|/org\.openoffice\.Office\.Common/Misc(#(FirstRun|LastTipOfTheDay\w*)$|/FilePickerLast)"
    r"|/org\.openoffice\.Setup/(Product|Office/Factories/.*#ooSetupFactoryWindowAttributes$"
    r"|Office#(ooSetupInstCompleted|MigrationCompleted|LastCompatibilityCheckID)$)"
    r"|.*(LastOpen|RecentlyUsed|RecentCharacter)\w*$"
)

# Calc writes all of these once a function was used; what is not in the file has these values
_CALC_DEFAULTS = {
    f"/org.openoffice.Office.Calc/{key}": value
    for key, value in {
        "Compatibility/KeyBindings#BaseGroup": "0", "Content/Update#Link": "2", "Input#AutoInput": "true",
        "Input#DetectiveAuto": "true", "Layout/Other/MeasureUnit#NonMetric": "8",
        "Layout/Other#StatusbarFunction": "1", "Layout/Other#StatusbarMultiFunction": "514",
        "Layout/Zoom#Synchronize": "true", "Layout/Zoom#Type": "0", "Layout/Zoom#Value": "100",
        "Misc/DefaultObjectSize#Height": "5000", "Misc/DefaultObjectSize#Width": "8000",
        "Misc/SharedDocument#ShowWarning": "true", "Revision/Color#Change": "-1", "Revision/Color#Deletion": "-1",
        "Revision/Color#Insertion": "-1", "Revision/Color#MovedEntry": "-1",
    }.items()
}  # fmt: skip

# what GIMP adds to its settings whenever it writes them
_GIMP_NOISE = (
    r"\((import-raw-plug-in|(fill|stroke)-options|style|antialias|feather|method|width|unit|cap-style|join-style"
    r"|miter-limit|dash-|emulate-brush)"
)

SETTINGS: tuple[Settings, ...] = (
    Settings(
        "~/.config/libreoffice/*/user/registrymodifications.xcu",
        read_registry,
        noise=_OFFICE_NOISE,
        defaults=_CALC_DEFAULTS,
    ),
    Settings("~/.config/chromium/*/Preferences", read_json, only=_CHROMIUM_SETTINGS),
    Settings("~/.config/chromium/Local State", read_json, only=_CHROMIUM_SETTINGS),
    Settings("~/.config/chromium/*/Bookmarks", read_bookmarks, sparse=True),
    Settings("~/.config/vlc/vlcrc", read_ini, noise=r".*/(qt-privacy-ask|metadata-network-access)$", sparse=True),
    Settings("~/.config/GIMP/*/gimprc", read_lines, noise=_GIMP_NOISE, sparse=True),
    Settings("~/.config/GIMP/*/menurc", read_lines, sparse=True),
    Settings("~/.config/GIMP/*/controllerrc", read_lines),
    Settings("~/.config/*/accels.scm", read_lines),
    Settings("~/.config/pcmanfm/*/pcmanfm.conf", read_ini, noise=r"ui/(win_|splitter_pos|maximized|max_tab)"),
    Settings("~/.config/libfm/libfm.conf", read_ini),
    Settings("~/.config/galculator/galculator.conf", read_ini),
    Settings(
        "~/.config/xfce4/xfconf/xfce-perchannel-xml/ristretto.xml",
        read_xfconf,
        noise=r"window/(width|height|maximized|navigationbar/position)$|file/current-uri$",
    ),
    Settings(
        "~/.config/glib-2.0/settings/keyfile",
        read_ini,
        noise=(
            r"org/xfce/mousepad/state/|org/gtk/(gtk4/)?settings/file-chooser/"
            r"|org/gnome/evince/((document|pictures)-directory|default/(window-ratio|sidebar-size|sidebar-page))$"
        ),
        sparse=True,
    ),
    Settings("~/.config/gtk-3.0/bookmarks", read_lines, sparse=True),
    Settings("~/.config/mimeapps.list", read_ini, sparse=True),
)

NOISE: tuple[str, ...] = (
    # of every program: caches, histories, thumbnails, locks, the trash's lists, key rings, sound
    "~/.cache/*", "~/.local/state/*", "~/.local/share/recently-used.xbel*", "~/.local/share/gvfs-metadata/*",
    "~/.local/share/Trash/info/*", "~/.local/share/Trash/directorysizes", "~/.local/share/Trash/expunged/*",
    "*/.~lock.*#", "~/.*_history", "~/.lesshst", "~/.viminfo", "~/.dbus/*", "~/.pki/*",
    "~/.gnupg/*", "~/.config/pulse/*", "~/.config/gtk-2.0/gtkfilechooser.ini", "~/.config/QtProject.conf",
    "~/.local/share/applications/mimeinfo.cache", "~/.config/xfce4/xfconf/xfce-perchannel-xml/*",
    # LibreOffice: caches and copies of what is in its profile
    "~/.config/libreoffice/*/.lock", "~/.config/libreoffice/*/user/pack/*", "~/.config/libreoffice/*/user/backup/*",
    "~/.config/libreoffice/*/user/extensions/*", "~/.config/libreoffice/*/user/uno_packages/*",
    "~/.config/libreoffice/*/user/GraphicsRenderTests.log", "~/.config/libreoffice/*/user/psprint/*",
    "~/.config/libreoffice/*/crash/*",
    # Chromium: its profile but for settings and bookmarks (above)
    "~/.config/chromium/*",
    # GIMP: window places, tool options, device lists and caches, written at every exit
    *(
        f"~/.config/GIMP/*/{name}"
        for name in (
            "sessionrc", "toolrc", "devicerc", "contextrc", "colorrc", "dockrc", "pluginrc", "parasiterc", "templaterc",
            "unitrc", "tags.xml", "action-history", "tool-options/*", "gtkrc", "filters/*", "internal-data/*",
            "profilerc", "themerc",
        )
    ),
    "~/.config/gegl-*/*", "~/.local/share/gegl-*/*",
    # VLC: window places and recent media; the media library
    "~/.config/vlc/vlc-qt-interface.conf", "~/.local/share/vlc/*",
    # file manager, viewers: how folders and documents were last shown
    "~/.config/pcmanfm/*/dir-settings.conf", "~/.config/evince/*", "~/.local/share/evince/*",
)  # fmt: skip

MADE: tuple[str, ...] = ("~/.local/share/Trash/files/*",)

ACTIVE: tuple[str, ...] = (
    # at the start of a session or a shell
    "~/.config/autostart/*", "~/.config/systemd/*", "~/.config/environment.d/*", "~/.pam_environment", "~/.xprofile",
    "~/.xinitrc", "~/.xsession", "~/.xsessionrc", "~/.config/openbox/*", "~/.profile", "~/.bashrc", "~/.bash_profile",
    "~/.bash_login", "~/.bash_logout", "~/.bash_aliases", "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.zlogin",
    "~/.config/fish/*", "~/.inputrc",
    # what programs are found, started by, or found for a kind of file
    "~/.local/bin/*", "~/bin/*", "~/.local/share/applications/*.desktop", "~/.local/share/dbus-1/*",
    "~/.local/share/mime/packages/*", "~/.mailcap", "~/.mime.types", "~/.config/user-dirs.dirs", "~/.config/menus/*",
    # how everything looks and types
    "~/.Xresources", "~/.Xdefaults*", "~/.Xmodmap", "~/.XCompose", "~/.config/gtk-*/*.css",
    "~/.config/gtk-*/settings.ini", "~/.gtkrc-2.0*", "~/.config/fontconfig/*", "~/.fonts.conf", "~/.fonts/*",
    "~/.local/share/fonts/*", "~/.themes/*", "~/.icons/*",
    # of single programs
    "~/.gitconfig", "~/.config/git/*", "~/.ssh/*", "~/.netrc", "~/.curlrc", "~/.wgetrc", "~/.npmrc", "~/.config/pip/*",
    "~/.vimrc", "~/.vim/*rc", "~/.vim/plugin/*", "~/.exrc", "~/.config/nvim/*", "~/.nanorc", "~/.emacs",
    "~/.emacs.d/*.el", "~/.tmux.conf", "~/.screenrc", "~/.local/share/vlc/lua/*", "~/.config/GIMP/*/plug-ins/*",
    "~/.config/GIMP/*/scripts/*",
)  # fmt: skip

# programs that a session or an application starts on its own; any other new one is reported
SERVICES = re.compile(
    r"(dbus|at-spi|gvfs|dconf|xfconf|xdg-|pulseaudio|pipewire|Xvfb|openbox|tint2|gnome-keyring|ibus|oosplash|"
    r"soffice|chrom|script-fu|zygote|obexd|tumblerd|evinced|gconf|goa-|speech-dispatcher|bwrap|sh$|bash$)"
)


def settings_of(path: str) -> Settings | None:
    """How the settings file at `path` is compared, or None where it is no known one."""
    return next((s for s in SETTINGS if fnmatch.fnmatchcase(path, s.pattern)), None)


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether any glob (`*` crosses slashes) names the path."""
    return any(fnmatch.fnmatchcase(path, p) for p in patterns)
