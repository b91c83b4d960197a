_weft() {
  local kind word line
  local -a found shown
  {
    read -r kind
    while IFS=$'\t' read -r word line; do
      found+=("$word")
      shown+=("$word${line:+  -- $line}")
    done
  } < <(command weft --complete zsh "${(@Q)words[2,CURRENT-1]}" "${words[CURRENT]}"     2>/dev/null </dev/null)
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
