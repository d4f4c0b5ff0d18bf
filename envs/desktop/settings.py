"""Settings: the files that every new HOME starts with, so that a desktop is quiet and looks the same each time.

Invariant: plain text by path below HOME. No animation, no blinking cursor, no question on a first start, nothing that
asks the network; what an application adds by itself is in its warmed profile.
"""

from __future__ import annotations

from collections.abc import Mapping

_GTK = """\
[Settings]
gtk-theme-name=Adwaita
gtk-icon-theme-name=Adwaita
gtk-font-name=Sans 10
gtk-cursor-blink=0
gtk-enable-animations=0
gtk-recent-files-enabled=0
gtk-overlay-scrolling=0
gtk-primary-button-warps-slider=1
"""

_GTK2 = """\
gtk-theme-name="Adwaita"
gtk-icon-theme-name="Adwaita"
gtk-font-name="Sans 10"
gtk-cursor-blink=0
gtk-enable-animations=0
"""


def _key(key: str, action: str, body: str = "") -> str:
    return f'<keybind key="{key}"><action name="{action}">{body}</action></keybind>'


def _mouse(button: str, press: str, *actions: str) -> str:
    body = "".join(f'<action name="{action}"/>' for action in actions)
    return f'<mousebind button="{button}" action="{press}">{body}</mousebind>'


_ROOT_MENU = '<action name="ShowMenu"><menu>root-menu</menu></action>'
_WINDOW_MENU = '<action name="ShowMenu"><menu>client-menu</menu></action>'
_RAISE = ("Focus", "Raise", "Unshade")
_FONTS = "".join(
    f'<font place="{place}"><name>Sans</name><size>10</size><weight>normal</weight><slant>normal</slant></font>'
    for place in ("ActiveWindow", "InactiveWindow", "MenuHeader", "MenuItem", "ActiveOnScreenDisplay")
)
# The title of a window has no icon (N): GIMP's becomes a small copy of its picture, at a time of its own choosing.
_OPENBOX = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<focus><focusNew>yes</focusNew><followMouse>no</followMouse><focusLast>yes</focusLast><raiseOnFocus>no</raiseOnFocus>
</focus>
<placement><policy>Smart</policy><center>yes</center><monitor>Primary</monitor></placement>
<theme><name>Clearlooks</name><titleLayout>LIMC</titleLayout><keepBorder>yes</keepBorder>
<animateIconify>no</animateIconify>{_FONTS}</theme>
<desktops><number>1</number><popupTime>0</popupTime></desktops>
<resize><drawContents>yes</drawContents><popupShow>Never</popupShow></resize>
<keyboard><rebindOnMappingNotify>no</rebindOnMappingNotify>
{_key("A-Tab", "NextWindow", "<finalactions>" + "".join(f'<action name="{a}"/>' for a in _RAISE) + "</finalactions>")}
{_key("A-S-Tab", "PreviousWindow")}
{_key("A-F4", "Close")}
{_key("A-F9", "Iconify")}
{_key("A-F10", "ToggleMaximize")}
{_key("W-Up", "Maximize")}
{_key("W-Down", "Unmaximize")}
{_key("W-d", "ToggleShowDesktop")}
{_key("W-space", "ShowMenu", "<menu>root-menu</menu>")}
{_key("A-space", "ShowMenu", "<menu>client-menu</menu>")}
</keyboard>
<mouse>
<dragThreshold>4</dragThreshold><doubleClickTime>400</doubleClickTime>
<context name="Frame">{_mouse("A-Left", "Press", "Focus", "Raise")}{_mouse("A-Left", "Drag", "Move")}</context>
<context name="Titlebar">
{_mouse("Left", "Press", *_RAISE)}{_mouse("Left", "Drag", "Move")}{_mouse("Left", "DoubleClick", "ToggleMaximize")}
<mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/>{_WINDOW_MENU}</mousebind>
</context>
<context name="Top Bottom Left Right TLCorner TRCorner BLCorner BRCorner">
{_mouse("Left", "Press", *_RAISE)}{_mouse("Left", "Drag", "Resize")}
</context>
<context name="Client">
{_mouse("Left", "Press", "Focus", "Raise")}{_mouse("Middle", "Press", "Focus", "Raise")}
{_mouse("Right", "Press", "Focus", "Raise")}
</context>
<context name="Icon">
{_mouse("Left", "Press", *_RAISE)}<mousebind button="Left" action="Press">{_WINDOW_MENU}</mousebind>
</context>
<context name="Iconify">{_mouse("Left", "Press", "Focus", "Raise")}{_mouse("Left", "Click", "Iconify")}</context>
<context name="Maximize">{_mouse("Left", "Press", *_RAISE)}{_mouse("Left", "Click", "ToggleMaximize")}</context>
<context name="Close">{_mouse("Left", "Press", *_RAISE)}{_mouse("Left", "Click", "Close")}</context>
<context name="Root"><mousebind button="Right" action="Press">{_ROOT_MENU}</mousebind></context>
<context name="MoveResize"/>
</mouse>
<menu><file>menu.xml</file><hideDelay>200</hideDelay><submenuShowDelay>0</submenuShowDelay></menu>
<applications/>
</openbox_config>
"""


def _office_item(path: str, name: str, value: str) -> str:
    return (
        f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>\n"
    )


_OFFICE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
    + _office_item("Office.Common/Misc", "FirstRun", "false")
    + _office_item("Office.Common/Misc", "ShowTipOfTheDay", "false")
    + _office_item("Office.UI.Infobar/Enabled", "WhatsNew", "false")
    + _office_item("Office.UI.Infobar/Enabled", "GetInvolved", "false")
    + _office_item("Office.UI.Infobar/Enabled", "Donate", "false")
    + _office_item("Office.Impress/Misc/NewDoc", "AutoPilot", "false")
    + _office_item("Office.Common/Save/Document", "WarnAlienFormat", "false")
    + _office_item("Office.Recovery/AutoSave", "Enabled", "false")
    + _office_item("Office.Jobs/Jobs/org.openoffice.Office.Jobs:Job['UpdateCheck']/Arguments", "AutoCheckEnabled",
                   "false")
    + "</oor:items>\n"
)  # fmt: skip

_CHROMIUM = """\
{"browser":{"has_seen_welcome_page":true,"check_default_browser":false},"distribution":{"skip_first_run_ui":true},\
"privacy_sandbox":{"m1":{"consent_decision_made":true,"notice_acknowledged":true}},\
"search":{"suggest_enabled":false},"signin":{"allowed":false}}
"""

_RISTRETTO = """\
<?xml version="1.0" encoding="UTF-8"?>
<channel name="ristretto" version="1.0">
<property name="errors" type="empty"><property name="missing-thumbnailer" type="bool" value="false"/></property>
<property name="window" type="empty">
<property name="thumbnails" type="empty"><property name="show" type="bool" value="false"/></property>
</property>
</channel>
"""

DIRECTORIES = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Videos")

FILES: Mapping[str, str] = {
    ".config/openbox/rc.xml": _OPENBOX,
    ".config/gtk-3.0/settings.ini": _GTK,
    ".config/gtk-4.0/settings.ini": _GTK,
    ".gtkrc-2.0": _GTK2,
    ".Xdefaults": "XTerm*faceName: DejaVu Sans Mono\nXTerm*faceSize: 11\nXTerm*cursorBlink: false\n",
    ".asoundrc": "pcm.!default { type null }\nctl.!default { type null }\n",  # no sound card: silence, and no errors
    ".bashrc": "PS1='\\u@\\h:\\w\\$ '\nunset HISTFILE\nalias ls='ls --color=auto'\n",
    ".config/user-dirs.dirs": "".join(
        f'XDG_{key}_DIR="$HOME/{name}"\n'
        for key, name in (("DESKTOP", "Desktop"), ("DOCUMENTS", "Documents"), ("DOWNLOAD", "Downloads"),
                          ("MUSIC", "Music"), ("PICTURES", "Pictures"), ("VIDEOS", "Videos"))
    ),
    ".config/vlc/vlcrc": (
        "[qt]\nqt-privacy-ask=0\nqt-updates-notif=0\nqt-system-tray=0\nqt-name-in-title=1\n"
        "[core]\nmetadata-network-access=0\nvideo-title-show=0\nplay-and-exit=0\n"
    ),
    ".config/GIMP/2.10/gimprc": "(check-updates no)\n",
    ".config/libreoffice/4/user/registrymodifications.xcu": _OFFICE,
    ".config/chromium/Default/Preferences": _CHROMIUM,
    ".config/chromium/First Run": "",
    ".config/libfm/libfm.conf": "[config]\nsingle_click=0\nuse_trash=1\nconfirm_del=1\nterminal=xterm -e %s\n"
    "thumbnail_local=1\n[ui]\nbig_icon_size=48\nsmall_icon_size=24\n",
    ".config/pcmanfm/default/pcmanfm.conf": "[ui]\nwin_width=900\nwin_height=600\nview_mode=0\nsort_type=0\n"
    "show_statusbar=0\n",  # it tells the disk's free space
    ".config/xfce4/xfconf/xfce-perchannel-xml/ristretto.xml": _RISTRETTO,
}  # fmt: skip
