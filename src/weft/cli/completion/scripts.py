"""The scripts of `weft completion`. They know no command: each Tab asks `weft --complete`, and its
lines are taken as they are, so that no shell reads a name as code.
"""

from collections.abc import Mapping
from typing import Final, Literal

Shell = Literal["bash", "zsh", "fish"]

BASH: Final = """\
_weft() {
  local kind word
  COMPREPLY=()
  {
    read -r kind
    while IFS= read -r word; do COMPREPLY+=("$word"); done
  } < <(command weft --complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
  case $kind in
    command*)
      if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$((${kind#command } + 1))"
      elif declare -F _command_offset >/dev/null; then
        _command_offset "$((${kind#command } + 1))"
      elif (( COMP_CWORD == ${kind#command } + 1 )); then
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -c -- "$2")
      fi ;;
    files) ;;
    *)
      compopt +o default
      compopt -o nosort 2>/dev/null
      [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace ;;
  esac
}

complete -o default -F _weft weft
"""
ZSH: Final = """\
_weft() {
  local kind word line
  local -a found shown
  {
    read -r kind
    while IFS=$'\\t' read -r word line; do
      found+=("$word")
      shown+=("$word${line:+  -- $line}")
    done
  } < <(command weft --complete zsh "${(@Q)words[2,CURRENT-1]}" "${words[CURRENT]}" \
    2>/dev/null </dev/null)
  case $kind in
    command*)
      shift "$((${kind#command } + 1))" words
      (( CURRENT -= ${kind#command } + 1 ))
      _normal ;;
    files)
      compset -P '--*='
      _files ;;
    *)
      (( $#found )) && compadd -V weft -l -d shown -a found ;;
  esac
}

(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
compdef _weft weft
"""
FISH: Final = """\
function __weft_complete
    set -l words (commandline -opc)[2..-1]
    set -l answer (command weft --complete fish $words (commandline -ct) 2>/dev/null </dev/null)
    set -l kind (string split ' ' -- $answer[1])
    switch "$kind[1]"
        case command
            set -l rest (commandline -opc)
            set -e rest[1..(math $kind[2] + 1)]
            complete -C (string join ' ' -- (string escape -- $rest) (commandline -ct))
        case files
            set -l option (string match -r -- '^--[^=]*=' (commandline -ct))
            set -l length (string length -- "$option")
            set -l begun (string sub -s (math $length + 1) -- (commandline -ct))
            for path in (__fish_complete_path "$begun")
                echo "$option$path"
            end
        case '*'
            string join \\n -- $answer[2..-1]
    end
end

complete -c weft -e
complete -c weft -f -k -a '(__weft_complete)'
"""
SCRIPTS: Final[Mapping[str, str]] = {"bash": BASH, "zsh": ZSH, "fish": FISH}
