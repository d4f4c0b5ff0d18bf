<?php
// Puts the pages named on the standard input, one a line, into DokuWiki's search index.
define('DOKU_INC', '/usr/share/dokuwiki/');
define('NOSESSION', 1);
require_once(DOKU_INC . 'inc/init.php');
while (($page = fgets(STDIN)) !== false) {
    idx_addPage(trim($page), false, true);
}
