-- Tenants, their users and billing projects, and what users leave with weft.

-- The key of a name. Names of tenants, users and billing projects are unique without regard to case, as
-- Unicode compares ("compatibility caseless match"). lower() is the server's: with some locales it knows
-- ASCII only or Turkish, and nowhere does it make one of a final and another sigma, or of STRASSE and straße.
-- The folds of Unicode 14 stand here, so a name has one key on each server. Keys are stored: a change of this
-- function is a migration. Names of ASCII, nearly all, are spared the table.
CREATE FUNCTION weft._name_key(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN octet_length(name) = length(name) THEN lower(name COLLATE "C")
        ELSE translate(
            replace(
                replace(replace(lower(normalize(name, NFKD) COLLATE "C"), 'ß', 'ss'), 'ẞ', 'ss'),
                chr(837),
                'ι'
            ),
            'ÆÐØÞĐĦŁŊŒŦƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƢƤƦƧƩƬƮƱƲƳƵƷƸƼǤǶǷȜȠȢȤȺȻȽȾɁɃɄɅɆɈɊ'
                'ɌɎͰͲͶͿΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςϏϘϚϜϞϠϢϤϦϨϪϬϮϷϺϽϾϿЂЄЅІЈЉЊЋЏАБВГ'
                'ДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮ'
                'ҰҲҴҶҸҺҼҾӀӃӅӇӉӋӍӔӘӠӨӶӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿ'
                'ՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹႺႻႼႽႾႿჀჁჂჃჄჅჇ'
                'ჍᏸᏹᏺᏻᏼᏽᲀᲁᲂᲃᲄᲅᲆᲇᲈᲐᲑᲒᲓᲔᲕᲖᲗᲘᲙᲚᲛᲜᲝᲞᲟᲠᲡᲢᲣᲤᲥᲦᲧᲨᲩᲪᲫᲬᲭᲮᲯᲰᲱᲲᲳᲴᲵᲶᲷᲸᲹᲺᲽᲾᲿ'
                'ỺỼỾℲↃⰀⰁⰂⰃⰄⰅⰆⰇⰈⰉⰊⰋⰌⰍⰎⰏⰐⰑⰒⰓⰔⰕⰖⰗⰘⰙⰚⰛⰜⰝⰞⰟⰠⰡⰢⰣⰤⰥⰦⰧⰨⰩⰪⰫⰬⰭⰮⰯⱠⱢⱣⱤⱧⱩⱫⱭⱮ'
                'ⱯⱰⱲⱵⱾⱿⲀⲂⲄⲆⲈⲊⲌⲎⲐⲒⲔⲖⲘⲚⲜⲞⲠⲢⲤⲦⲨⲪⲬⲮⲰⲲⲴⲶⲸⲺⲼⲾⳀⳂⳄⳆⳈⳊⳌⳎⳐⳒⳔⳖⳘⳚⳜⳞⳠⳢⳫⳭⳲꙀꙂꙄ'
                'ꙆꙈꙊꙌꙎꙐꙒꙔꙖꙘꙚꙜꙞꙠꙢꙤꙦꙨꙪꙬꚀꚂꚄꚆꚈꚊꚌꚎꚐꚒꚔꚖꚘꚚꜢꜤꜦꜨꜪꜬꜮꜲꜴꜶꜸꜺꜼꜾꝀꝂꝄꝆꝈꝊꝌꝎꝐꝒꝔꝖꝘꝚ'
                'ꝜꝞꝠꝢꝤꝦꝨꝪꝬꝮꝹꝻꝽꝾꞀꞂꞄꞆꞋꞍꞐꞒꞖꞘꞚꞜꞞꞠꞢꞤꞦꞨꞪꞫꞬꞭꞮꞰꞱꞲꞳꞴꞶꞸꞺꞼꞾꟀꟂꟄꟅꟆꟇꟉꟐꟖꟘꟵꭰꭱꭲꭳ'
                'ꭴꭵꭶꭷꭸꭹꭺꭻꭼꭽꭾꭿꮀꮁꮂꮃꮄꮅꮆꮇꮈꮉꮊꮋꮌꮍꮎꮏꮐꮑꮒꮓꮔꮕꮖꮗꮘꮙꮚꮛꮜꮝꮞꮟꮠꮡꮢꮣꮤꮥꮦꮧꮨꮩꮪꮫꮬꮭꮮꮯꮰꮱ'
                'ꮲꮳꮴꮵꮶꮷꮸꮹꮺꮻꮼꮽꮾꮿ𐐀𐐁𐐂𐐃𐐄𐐅𐐆𐐇𐐈𐐉𐐊𐐋𐐌𐐍𐐎𐐏𐐐𐐑𐐒𐐓𐐔𐐕𐐖𐐗𐐘𐐙𐐚𐐛𐐜𐐝𐐞𐐟𐐠𐐡𐐢𐐣𐐤𐐥𐐦𐐧𐒰𐒱𐒲𐒳𐒴𐒵𐒶𐒷'
                '𐒸𐒹𐒺𐒻𐒼𐒽𐒾𐒿𐓀𐓁𐓂𐓃𐓄𐓅𐓆𐓇𐓈𐓉𐓊𐓋𐓌𐓍𐓎𐓏𐓐𐓑𐓒𐓓𐕰𐕱𐕲𐕳𐕴𐕵𐕶𐕷𐕸𐕹𐕺𐕼𐕽𐕾𐕿𐖀𐖁𐖂𐖃𐖄𐖅𐖆𐖇𐖈𐖉𐖊𐖌𐖍𐖎𐖏𐖐𐖑𐖒𐖔'
                '𐖕𐲀𐲁𐲂𐲃𐲄𐲅𐲆𐲇𐲈𐲉𐲊𐲋𐲌𐲍𐲎𐲏𐲐𐲑𐲒𐲓𐲔𐲕𐲖𐲗𐲘𐲙𐲚𐲛𐲜𐲝𐲞𐲟𐲠𐲡𐲢𐲣𐲤𐲥𐲦𐲧𐲨𐲩𐲪𐲫𐲬𐲭𐲮𐲯𐲰𐲱𐲲𑢠𑢡𑢢𑢣𑢤𑢥𑢦𑢧𑢨𑢩'
                '𑢪𑢫𑢬𑢭𑢮𑢯𑢰𑢱𑢲𑢳𑢴𑢵𑢶𑢷𑢸𑢹𑢺𑢻𑢼𑢽𑢾𑢿𖹀𖹁𖹂𖹃𖹄𖹅𖹆𖹇𖹈𖹉𖹊𖹋𖹌𖹍𖹎𖹏𖹐𖹑𖹒𖹓𖹔𖹕𖹖𖹗𖹘𖹙𖹚𖹛𖹜𖹝𖹞𖹟𞤀𞤁𞤂𞤃𞤄𞤅𞤆𞤇'
                '𞤈𞤉𞤊𞤋𞤌𞤍𞤎𞤏𞤐𞤑𞤒𞤓𞤔𞤕𞤖𞤗𞤘𞤙𞤚𞤛𞤜𞤝𞤞𞤟𞤠𞤡',
            'æðøþđħłŋœŧɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵƣƥʀƨʃƭʈʊʋƴƶʒƹƽǥƕƿȝƞȣȥⱥȼƚⱦɂƀʉʌɇɉɋ'
                'ɍɏͱͳͷϳαβγδεζηθικλμνξοπρστυφχψωσϗϙϛϝϟϡϣϥϧϩϫϭϯϸϻͻͼͽђєѕіјљњћџабвг'
                'дежзиклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭү'
                'ұҳҵҷҹһҽҿӏӄӆӈӊӌӎӕәӡөӷӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկ'
                'հձղճմյնշոչպջռսվտրցւփքօֆⴀⴁⴂⴃⴄⴅⴆⴇⴈⴉⴊⴋⴌⴍⴎⴏⴐⴑⴒⴓⴔⴕⴖⴗⴘⴙⴚⴛⴜⴝⴞⴟⴠⴡⴢⴣⴤⴥⴧ'
                'ⴭᏰᏱᏲᏳᏴᏵвдосттъѣꙋაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺჽჾჿ'
                'ỻỽỿⅎↄⰰⰱⰲⰳⰴⰵⰶⰷⰸⰹⰺⰻⰼⰽⰾⰿⱀⱁⱂⱃⱄⱅⱆⱇⱈⱉⱊⱋⱌⱍⱎⱏⱐⱑⱒⱓⱔⱕⱖⱗⱘⱙⱚⱛⱜⱝⱞⱟⱡɫᵽɽⱨⱪⱬɑɱ'
                'ɐɒⱳⱶȿɀⲁⲃⲅⲇⲉⲋⲍⲏⲑⲓⲕⲗⲙⲛⲝⲟⲡⲣⲥⲧⲩⲫⲭⲯⲱⲳⲵⲷⲹⲻⲽⲿⳁⳃⳅⳇⳉⳋⳍⳏⳑⳓⳕⳗⳙⳛⳝⳟⳡⳣⳬⳮⳳꙁꙃꙅ'
                'ꙇꙉꙋꙍꙏꙑꙓꙕꙗꙙꙛꙝꙟꙡꙣꙥꙧꙩꙫꙭꚁꚃꚅꚇꚉꚋꚍꚏꚑꚓꚕꚗꚙꚛꜣꜥꜧꜩꜫꜭꜯꜳꜵꜷꜹꜻꜽꜿꝁꝃꝅꝇꝉꝋꝍꝏꝑꝓꝕꝗꝙꝛ'
                'ꝝꝟꝡꝣꝥꝧꝩꝫꝭꝯꝺꝼᵹꝿꞁꞃꞅꞇꞌɥꞑꞓꞗꞙꞛꞝꞟꞡꞣꞥꞧꞩɦɜɡɬɪʞʇʝꭓꞵꞷꞹꞻꞽꞿꟁꟃꞔʂᶎꟈꟊꟑꟗꟙꟶᎠᎡᎢᎣ'
                'ᎤᎥᎦᎧᎨᎩᎪᎫᎬᎭᎮᎯᎰᎱᎲᎳᎴᎵᎶᎷᎸᎹᎺᎻᎼᎽᎾᎿᏀᏁᏂᏃᏄᏅᏆᏇᏈᏉᏊᏋᏌᏍᏎᏏᏐᏑᏒᏓᏔᏕᏖᏗᏘᏙᏚᏛᏜᏝᏞᏟᏠᏡ'
                'ᏢᏣᏤᏥᏦᏧᏨᏩᏪᏫᏬᏭᏮᏯ𐐨𐐩𐐪𐐫𐐬𐐭𐐮𐐯𐐰𐐱𐐲𐐳𐐴𐐵𐐶𐐷𐐸𐐹𐐺𐐻𐐼𐐽𐐾𐐿𐑀𐑁𐑂𐑃𐑄𐑅𐑆𐑇𐑈𐑉𐑊𐑋𐑌𐑍𐑎𐑏𐓘𐓙𐓚𐓛𐓜𐓝𐓞𐓟'
                '𐓠𐓡𐓢𐓣𐓤𐓥𐓦𐓧𐓨𐓩𐓪𐓫𐓬𐓭𐓮𐓯𐓰𐓱𐓲𐓳𐓴𐓵𐓶𐓷𐓸𐓹𐓺𐓻𐖗𐖘𐖙𐖚𐖛𐖜𐖝𐖞𐖟𐖠𐖡𐖣𐖤𐖥𐖦𐖧𐖨𐖩𐖪𐖫𐖬𐖭𐖮𐖯𐖰𐖱𐖳𐖴𐖵𐖶𐖷𐖸𐖹𐖻'
                '𐖼𐳀𐳁𐳂𐳃𐳄𐳅𐳆𐳇𐳈𐳉𐳊𐳋𐳌𐳍𐳎𐳏𐳐𐳑𐳒𐳓𐳔𐳕𐳖𐳗𐳘𐳙𐳚𐳛𐳜𐳝𐳞𐳟𐳠𐳡𐳢𐳣𐳤𐳥𐳦𐳧𐳨𐳩𐳪𐳫𐳬𐳭𐳮𐳯𐳰𐳱𐳲𑣀𑣁𑣂𑣃𑣄𑣅𑣆𑣇𑣈𑣉'
                '𑣊𑣋𑣌𑣍𑣎𑣏𑣐𑣑𑣒𑣓𑣔𑣕𑣖𑣗𑣘𑣙𑣚𑣛𑣜𑣝𑣞𑣟𖹠𖹡𖹢𖹣𖹤𖹥𖹦𖹧𖹨𖹩𖹪𖹫𖹬𖹭𖹮𖹯𖹰𖹱𖹲𖹳𖹴𖹵𖹶𖹷𖹸𖹹𖹺𖹻𖹼𖹽𖹾𖹿𞤢𞤣𞤤𞤥𞤦𞤧𞤨𞤩'
                '𞤪𞤫𞤬𞤭𞤮𞤯𞤰𞤱𞤲𞤳𞤴𞤵𞤶𞤷𞤸𞤹𞤺𞤻𞤼𞤽𞤾𞤿𞥀𞥁𞥂𞥃'
        )
    END
$$;
GRANT EXECUTE ON FUNCTION weft._name_key TO weft_tenant, weft_system;

CREATE TABLE weft.tenant (
    tenant_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 256),
    -- What becomes of the batches of users who are removed, where the removal itself does not say it.
    on_user_removal text NOT NULL DEFAULT 'finish' CHECK (on_user_removal IN ('finish', 'cancel')),
    -- What its jobs may choose of images and engines: lists of patterns by kind; of a missing kind anything.
    allowed jsonb NOT NULL DEFAULT '{}'
        CHECK (jsonb_typeof(allowed) = 'object' AND pg_column_size(allowed) < 1000000),
    name_key text NOT NULL GENERATED ALWAYS AS (weft._name_key(name)) STORED,
    -- How long output and files of a batch are kept after its end, and how much is stored before the oldest
    -- go; 0: without a limit.
    output_keep_s bigint NOT NULL DEFAULT 0 CHECK (output_keep_s >= 0),
    output_keep_bytes bigint NOT NULL DEFAULT 0 CHECK (output_keep_bytes >= 0),
    -- Completions up to this one were looked at: what they left is gone. NULL: none was.
    output_removed_to timestamptz
);
CREATE UNIQUE INDEX tenant_name_key_idx ON weft.tenant (name_key);

CREATE TABLE weft.tenant_user (
    user_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    weight int NOT NULL DEFAULT 1 CHECK (weight > 0),
    weight_until timestamptz,  -- then it is 1 again; NULL: it stays
    -- What a user may do; the rights of a role are in core/access/rights.py.
    role text NOT NULL DEFAULT 'user'
        CHECK (role IN ('viewer', 'user', 'operator', 'tenant-admin', 'admin', 'worker')),
    removed_at timestamptz,  -- NULL: not removed; a removed user keeps the row, which batches and bills name
    name_key text NOT NULL GENERATED ALWAYS AS (weft._name_key(name)) STORED,
    UNIQUE (tenant_id, name)
);
CREATE UNIQUE INDEX tenant_user_name_key_idx ON weft.tenant_user (tenant_id, name_key);
CREATE INDEX tenant_user_weight_idx ON weft.tenant_user (weight_until) WHERE weight_until IS NOT NULL;
CREATE INDEX tenant_user_page_idx ON weft.tenant_user (tenant_id, user_id) WHERE removed_at IS NULL;
ROWS_OF_QUERIES weft.tenant_user;

-- Tokens that people and programs ask for: with a name, an end, and at most some rights of their user.
-- Sessions of browsers are tokens of a kind of their own, and so are the codes that open them, and those of
-- machines, which the driver makes: they have the machine's name. With an invitation a worker outside gets a
-- token of its own, once; with an answer one job that waits is answered, of which its text begins with the
-- name, and which has it in its own.
CREATE TABLE weft.token (
    token_hash bytea PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,  -- NULL: does not expire
    token_id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name text NOT NULL DEFAULT 'home' CHECK (length(name) BETWEEN 1 AND 256),
    scopes text[] CHECK (
        cardinality(scopes) > 0
            AND scopes <@ ARRAY['read', 'write', 'exec', 'operate', 'manage', 'administer', 'work']
    ),
    last_used_at timestamptz,
    idempotency_key text,
    kind text NOT NULL DEFAULT 'token'
        CHECK (kind IN ('token', 'code', 'session', 'machine', 'invitation', 'answer')),
    -- of a session: the address of the browser; of an invitation: the worker that has used it; NULL: neither
    opened_from text CHECK (length(opened_from) <= 256),
    -- what ends with that token: a code, its session, and what that session makes; NULL: it ends by itself
    made_by bigint,
    -- of a code or an invitation: when its session or its worker's token ends at the latest; NULL: it is only
    -- as long as any
    session_ends_at timestamptz,
    -- of a worker outside: the pool that it may join, and the names that it may have, with * and ?; NULL: it
    -- is nobody's worker
    pool text CHECK (length(pool) <= 256),
    worker_names text CHECK (length(worker_names) <= 256),
    CONSTRAINT token_of_a_browser_expires CHECK (kind = 'token' OR expires_at IS NOT NULL),
    CONSTRAINT token_of_a_worker_is_for_work CHECK (
        (pool IS NOT NULL) = (scopes IS NOT NULL AND 'work' = ANY (scopes))
            AND (pool IS NULL) = (worker_names IS NULL)
            AND (pool IS NULL OR cardinality(scopes) = 1)
    )
);
CREATE INDEX token_user_idx ON weft.token (user_id, token_id);
CREATE INDEX token_name_idx ON weft.token (name) WHERE kind IN ('machine', 'answer');

CREATE TABLE weft.billing_project (
    project_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    closed_at timestamptz,  -- NULL: it takes new batches
    deleted_at timestamptz,  -- NULL: it is there; batches and bills keep the row
    idempotency_key text,
    name_key text NOT NULL GENERATED ALWAYS AS (weft._name_key(name)) STORED,
    UNIQUE (tenant_id, name),
    CONSTRAINT billing_project_is_closed_before CHECK (deleted_at IS NULL OR closed_at IS NOT NULL)
);
CREATE INDEX billing_project_page_idx ON weft.billing_project (tenant_id, name) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX billing_project_name_key_idx ON weft.billing_project (tenant_id, name_key);
ROWS_OF_QUERIES weft.billing_project;

CREATE TABLE weft.billing_member (
    project_id int NOT NULL REFERENCES weft.billing_project,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX billing_member_user_idx ON weft.billing_member (user_id, project_id);

-- What requests with an idempotency key were answered, where nothing that they made says it: for a day.
CREATE TABLE weft.answered_request (
    user_id int NOT NULL,
    idempotency_key text NOT NULL,  -- and the function of the database that it called
    tenant_id int NOT NULL,
    digest bytea NOT NULL,
    answer jsonb NOT NULL,  -- [the first value]
    at timestamptz NOT NULL,
    PRIMARY KEY (user_id, idempotency_key)
);
CREATE INDEX answered_request_at_idx ON weft.answered_request (at);

-- Secrets of users for their jobs (ADR 54). What is stored is encrypted: the database and its copies hold no
-- value.
CREATE TABLE weft.secret (
    user_id int NOT NULL REFERENCES weft.tenant_user (user_id),
    name text NOT NULL CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'),
    tenant_id int NOT NULL,
    body bytea NOT NULL CHECK (length(body) BETWEEN 37 AND 2097152),  -- weft.wire.sealed
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (user_id, name)
);
ALTER TABLE weft.secret ALTER COLUMN body SET STORAGE EXTERNAL;  -- what is encrypted does not compress

-- Queries for batches that users have given a name.
CREATE TABLE weft.saved_query (
    user_id int NOT NULL REFERENCES weft.tenant_user (user_id),
    name text NOT NULL CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'),
    tenant_id int NOT NULL,
    query text NOT NULL CHECK (length(query) BETWEEN 1 AND 65536),
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, name)
);
