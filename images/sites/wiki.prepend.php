<?php
// Runs before each of DokuWiki's scripts: its configuration and data lie in $WIKI_DATA, every visitor is signed in as
// $WIKI_USER until he signs in as someone else, and it believes itself at the port that the browser knows.
define('DOKU_CONF', getenv('WIKI_DATA') . '/conf/');
$_SERVER['SERVER_PORT'] = '80';
if (PHP_SAPI !== 'cli' && getenv('WIKI_USER')) {
    [$_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW']] = explode(':', getenv('WIKI_USER'), 2);
}
