#!/bin/sh
# A C compiler that compiles nothing twice: gcc, with its results kept by the digest of its inputs.
#
# What it reads are the files among its arguments and all headers (and sources of CUDA, which are
# included) in their folders and those of -I; of Python and NumPy when they were installed.
# Only runs that end well, say nothing and write one file are kept. A shell, since tests call it
# thousands of times and it starts in a hundredth of the time that Python takes; every program that
# it starts counts: all together they take a third of what gcc does for a small file.
# The glue of an extension module (_native.c), which computes nothing, is not optimised unless
# warnings are asked for: that takes twice as long as all else of a small robot. Nor is a library
# whose operations are to be those written, for no certain processor: its bits are the same, which is
# tried with -O3. What SYMGEN_TEST_FLAGS asks for comes last.

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
        -m* | -O3) plain=" " ;;
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

# What each argument is: the last part of a path, of a folder that it is one, of others all.
words() {
    for x; do
        case $x in
            "$out") ;;
            -I*) printf '%s\0' -I ;;
            *) if [ -f "$x" ]; then printf '%s\0' "${x##*/}"; else printf '%s\0' "$x"; fi ;;
        esac
    done
}

# The digests of the files among the arguments, and of headers beside them, with their names; and
# the age of the compiler and of what is installed.
contents() {
    count=$# seen=. before= installed=$(command -v "$compiler")
    for x; do
        folder=
        if [ "$before" = -I ]; then folder=$x; fi
        before=$x
        case $x in
            "$out") ;;
            -I*) folder=${folder:-${x#-I}} ;;
            *) if [ -f "$x" ]; then
                set -- "$@" "$x"
                case $x in */*) folder=${x%/*} ;; esac
            fi ;;
        esac
        case $folder in
            "" | "$seen" | .) ;;
            */include/python* | */numpy/*) installed="$installed
$folder" ;;
            *)
                seen=$folder
                for file in "$folder"/*.h* "$folder"/*.cu "$folder"/*.cuh; do
                    if [ -f "$file" ]; then set -- "$@" "$file"; fi
                done
                ;;
        esac
    done
    for file in ./*.h* ./*.cu ./*.cuh; do
        if [ -f "$file" ]; then set -- "$@" "$file"; fi
    done
    shift $count
    for file; do printf '%s\0' "${file##*/}"; done
    sha256sum -- "$@" | cut -c 1-65
    IFS='
'
    stat -L -c '%s %Y' $installed
}

digest=$({
    words "$compiler" "$last" "$@"
    contents "$@"
} | sha256sum)
kept=$store/${digest%% *}
if [ -e "$kept" ]; then
    exec cp -p "$kept" "$out"
fi
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
