"""What is added to the completion scripts of cyclopts: words that only the server knows.

Each function asks `weft --complete WORD…` and takes its lines as they are, so that no shell reads
a name as code. Where there are none, the words of the commands themselves are offered.
"""

from typing import Final, Literal

Shell = Literal["bash", "zsh", "fish"]

BASH: Final = """
_weft_live() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(command weft --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
  (( ${#COMPREPLY[@]} )) || _weft "$@"
}

complete -F _weft_live weft
"""
ZSH: Final = """
_weft_live() {
  local -a found
  found=("${(@f)$(command weft --complete "${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  found=("${(@)found:#}")
  if (( $#found )); then
    compadd -a found
  else
    _cyclopts_weft "$@"
  fi
}

(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
compdef _weft_live weft
"""
FISH: Final = """
function __weft_has_live
    set -l words (commandline -opc)[2..-1] "$(commandline -ct)"
    set -g __weft_live (command weft --complete $words 2>/dev/null </dev/null)
    test (count $__weft_live) -gt 0
end

complete -c weft -n __weft_has_live -f -a '$__weft_live'
"""
ADDED: Final = {"bash": BASH, "zsh": ZSH, "fish": FISH}
