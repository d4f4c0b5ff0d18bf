<?php
// Shaarli's datastore from and to JSON, by the application's own classes: `php -n store.php load|save FILE`.
// load: prints [bookmark, ...]; `shared` is whether a private one has a link to show it by. save: puts the bookmarks
// that it reads from standard input, each with `created`, in FILE.

namespace Shaarli\Bookmark;

error_reporting(E_ALL & ~E_DEPRECATED);
require '/usr/share/shaarli/application/bookmark/Bookmark.php';
require '/usr/share/shaarli/application/bookmark/BookmarkArray.php';
require '/usr/share/shaarli/application/bookmark/LinkUtils.php';
require '/usr/share/shaarli/application/Utils.php';

[, $verb, $file] = $argv;
date_default_timezone_set('UTC');
const HEAD = '<?php /* ', TAIL = ' */ ?>';  // of BookmarkIO, around what it stores

function load(string $file): array
{
    $stored = substr(file_get_contents($file), strlen(HEAD), -strlen(TAIL));
    $rows = [];
    foreach (unserialize(gzinflate(base64_decode($stored))) as $bookmark) {
        $rows[] = [
            'id' => $bookmark->getId(),
            'url' => $bookmark->isNote() ? '' : $bookmark->getUrl(),
            'title' => $bookmark->getTitle(),
            'description' => $bookmark->getDescription(),
            'tags' => $bookmark->getTags(),
            'private' => $bookmark->isPrivate(),
            'sticky' => $bookmark->isSticky(),
            'shared' => $bookmark->getAdditionalContentEntry('private_key') !== null,
        ];
    }
    return $rows;
}

function save(string $file, array $rows): void
{
    $bookmarks = new BookmarkArray();
    foreach ($rows as $row) {
        $bookmark = (new Bookmark())->fromArray(['created' => new \DateTime($row['created'])] + $row);
        $bookmark->setId($row['id'])->validate();
        $bookmarks[$row['id']] = $bookmark;
    }
    $bookmarks->reorder();
    file_put_contents($file, HEAD . base64_encode(gzdeflate(serialize($bookmarks))) . TAIL);
}

if ($verb === 'load') {
    echo json_encode(load($file), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
} else {
    save($file, json_decode(stream_get_contents(STDIN), true, 512, JSON_THROW_ON_ERROR));
}
