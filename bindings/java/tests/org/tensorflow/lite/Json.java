// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON into maps, lists, strings, doubles, booleans and null: enough for bindings/tests/cases.json. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipBlanks();
        if (json.at < text.length()) throw json.error("the end");
        return value;
    }

    private IllegalArgumentException error(String expected) {
        return new IllegalArgumentException("JSON: " + expected + " expected at character " + at);
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    }

    private boolean take(char wanted) {
        skipBlanks();
        if (at >= text.length() || text.charAt(at) != wanted) return false;
        at++;
        return true;
    }

    private Object value() {
        skipBlanks();
        if (take('{')) return object();
        if (take('[')) return array();
        if (take('"')) return string();
        int begin = at;
        while (at < text.length() && "+-.".indexOf(text.charAt(at)) >= 0
                || at < text.length() && Character.isLetterOrDigit(text.charAt(at))) at++;
        String word = text.substring(begin, at);
        switch (word) {
            case "null":
                return null;
            case "true":
                return true;
            case "false":
                return false;
            default:
                return Double.valueOf(word);
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        if (take('}')) return map;
        do {
            if (!take('"')) throw error("a name");
            String name = string();
            if (!take(':')) throw error("':'");
            map.put(name, value());
        } while (take(','));
        if (!take('}')) throw error("'}'");
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        if (take(']')) return list;
        do {
            list.add(value());
        } while (take(','));
        if (!take(']')) throw error("']'");
        return list;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        while (text.charAt(at) != '"') {
            char c = text.charAt(at++);
            if (c == '\\') {
                c = text.charAt(at++);
                int special = "bfnrt".indexOf(c);
                if (special >= 0) c = "\b\f\n\r\t".charAt(special);
                if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                    at += 4;
                }
            }
            string.append(c);
        }
        at++;
        return string.toString();
    }
}
