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
            string join \n -- $answer[2..-1]
    end
end

complete -c weft -e
complete -c weft -f -k -a '(__weft_complete)'
