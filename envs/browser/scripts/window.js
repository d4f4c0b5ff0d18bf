// Keeps a browser's own menus and tools (a page's source, developer tools, file dialogs, other windows) from opening in
// a window: the page still gets the events, and keys that edit, load again or go back and forth do what they do.
(() => {
  "use strict";
  const EDIT = /^([acvxzy]|Insert|Delete|Backspace|Home|End|Enter|Arrow.*)$/i;
  const AGAIN = /^([1-9]|r|F5)$/i, STYLE = /^[biu]$/i;
  const stays = ({ key, ctrlKey, altKey, metaKey, shiftKey, target }) => {
    if (metaKey || (altKey && ctrlKey)) return false;
    if (altKey) return /^Arrow/.test(key);
    if (ctrlKey && shiftKey) return /^([zvr]|Home|End|Arrow.*)$/i.test(key);
    if (ctrlKey) return EDIT.test(key) || AGAIN.test(key) || STYLE.test(key) && target.isContentEditable;
    return !/^F\d+$/.test(key) || key === "F5";
  };
  addEventListener("contextmenu", (event) => event.preventDefault(), true);
  addEventListener("keydown", (event) => { if (event.isTrusted && !stays(event)) event.preventDefault(); }, true);
})();
