<?php
// PHP's own json_encode, http_build_query and htmlspecialchars.
// In: {"op", "text"}; out: {"text"} or {"error"}, one line for each; text is base64.

$objects = fn ($body) => json_decode($body, false, 512, JSON_BIGINT_AS_STRING | JSON_THROW_ON_ERROR);
$form = function ($body) { parse_str($body, $fields); return $fields; };
$ops = [
    'json_encode' => fn ($body) => json_encode($objects($body)),
    'json_encode pretty' => fn ($body) => json_encode($objects($body), JSON_PRETTY_PRINT),
    'json_encode unescaped' => fn ($body) => json_encode($objects($body), JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE),
    'json_encode slashes' => fn ($body) => json_encode($objects($body), JSON_UNESCAPED_UNICODE),
    'json_encode hex' => fn ($body) => json_encode($objects($body), JSON_HEX_TAG | JSON_HEX_AMP | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES),
    'http_build_query' => fn ($body) => http_build_query($form($body)),
    'http_build_query rfc3986' => fn ($body) => http_build_query($form($body), '', '&', PHP_QUERY_RFC3986),
    'form to json' => fn ($body) => json_encode($form($body)),
    'htmlspecialchars' => fn ($secret) => htmlspecialchars($secret),
    'trim' => fn ($body) => trim($body),
];

while (($line = fgets(STDIN)) !== false) {
    $order = json_decode($line, true);
    try {
        $answer = ['text' => base64_encode($ops[$order['op']](base64_decode($order['text'])))];
    } catch (Throwable $error) {
        $answer = ['error' => $error->getMessage()];
    }
    echo json_encode($answer), "\n";
}
