#!/bin/sh
# A C compiler that compiles nothing twice: gcc, with its results kept by the digest of its inputs.
#
# What it reads are the files among its arguments and all headers (and sources of CUDA, which are
# included) in their folders and those of -I.
# Only runs that end well, say nothing and write one file are kept. A shell, since tests call it
# thousands of times and it starts in a hundredth of the time that Python takes.
# The glue of an extension module (_native.c), which computes nothing, is not optimised unless
# warnings are asked for: that takes twice as long as all else of a small robot. Nor is a library
# whose operations are to be those written, for no certain processor: its bits are the same; and what
# SYMGEN_TEST_FLAGS asks for comes last.

compiler=${SYMGEN_TEST_CC:-gcc}
store=${0%/*}/../../build/tests/compiled

# Runs that do something else than to compile and link are those of the compiler itself.
outs=0 out= glue= shared= written= plain=
for x; do
    if [ "$out" = "?" ]; then
        out=$x
        continue
    fi
    case $x in
        _native.c) glue=${glue:--O0} ;;
        -shared) shared=-O0 ;;
        -ffp-contract=off) written=-O0 ;;
        -W*) glue=" " plain=" " ;;
        -march=* | -m*) plain=" " ;;
    esac
    case $x in
        -o) outs=$((outs + 1)) out="?" ;;
        - | -E | -S | -M* | -v | "-###" | --* | -fstack-usage | -save* | -g*) outs=9 ;;
    esac
done
if [ $outs != 1 ] || [ "$out" = "?" ]; then
    exec "$compiler" "$@"
fi
if [ "$shared$written" = -O0-O0 ]; then plain=${plain:--O0}; else plain=; fi
last="$glue $plain $SYMGEN_TEST_FLAGS"

# What each argument is: the last part of a path, of a folder that it is one, of others all; and
# which compiler it is.
arguments() {
    printf '%s\0' "$compiler" "$last"
    stat -L -c '%s %Y' "$(command -v "$compiler")"
    for x; do
        case $x in
            "$out") ;;
            -I*) printf '%s\0' -I ;;
            *) if [ -f "$x" ]; then printf '%s\0' "${x##*/}"; else printf '%s\0' "$x"; fi ;;
        esac
    done
}

headers() {
    for file in "$1"/*.h* "$1"/*.cu "$1"/*.cuh; do
        if [ -f "$file" ]; then printf '%s\0' "$file"; fi
    done
}

# The files among the arguments, and headers beside them, those of a folder once.
files() {
    headers .
    last=. before=
    for x; do
        folder=
        if [ "$before" = -I ]; then folder=$x; fi
        before=$x
        case $x in
            "$out") ;;
            -I*) folder=${folder:-${x#-I}} ;;
            *) if [ -f "$x" ]; then
                printf '%s\0' "$x"
                case $x in */*) folder=${x%/*} ;; esac
            fi ;;
        esac
        if [ -n "$folder" ] && [ "$folder" != "$last" ]; then
            headers "$folder"
            last=$folder
        fi
    done
}

digest=$({
    arguments "$@"
    files "$@" | xargs -0 sha256sum | while read -r sum file; do echo "$sum ${file##*/}"; done
} | sha256sum)
kept=$store/${digest%% *}
[ -d "$store" ] || mkdir -p "$store"
exec 9> "$kept.lock"
flock 9 2> /dev/null
if [ -e "$kept" ]; then
    exec cp -p "$kept" "$out"
fi
"$compiler" "$@" $last > "$kept.said" 2> "$kept.warned"
status=$?
if [ -s "$kept.said" ]; then cat "$kept.said"; fi
if [ -s "$kept.warned" ]; then cat "$kept.warned" >&2; fi
if [ $status = 0 ] && [ ! -s "$kept.said" ] && [ ! -s "$kept.warned" ] && [ -f "$out" ]; then
    cp -p "$out" "$kept.new" && mv "$kept.new" "$kept"
fi
rm -f "$kept.said" "$kept.warned"
exit $status
