<?php
// One request to Shaarli, for PHP's built-in server: the package's own code on data that lies where the environment
// says. Of the package ConfigManager alone names those places; the installation's copy of it asks for them instead.

const PACKAGE = '/usr/share/shaarli';
define('DATA', getenv('SHAARLI_DATA'));

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (preg_match('#^/(tpl|assets|plugins)/[^.].*\.(css|js|png|svg|woff2?)$#', $path) && is_file(PACKAGE . $path)) {
    return false;
}
set_error_handler(static fn () => true, E_DEPRECATED);  // the package is older than this PHP, and says so each time
$_COOKIE['shaarli_staySignedIn'] = getenv('SHAARLI_TOKEN');
$_SERVER['SERVER_NAME'] = 'bookmarks.test';  // which its cookies are for
$_SERVER['SERVER_PORT'] = '80';
$_SERVER['SCRIPT_NAME'] = '/index.php';
chdir(PACKAGE);
require __DIR__ . '/ConfigManager.php';
require PACKAGE . '/index.php';
