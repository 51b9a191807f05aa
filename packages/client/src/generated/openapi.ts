// Made by packages/client/scripts/generate.mjs from the OpenAPI document: `make client`.
export interface components {
    schemas: {
        /** @description A script with all that it needs */
        ActionDefinition: {
            /** @description Tells whether a target is as the action left it: exit code 0, it is; 1, it has drifted; anything else, the check could not be done. It runs with the variables, files, environment and working directory of the action. */
            check?: {
                /**
                 * @description That of the action when omitted
                 * @enum {string}
                 */
                interpreter?: "sh" | "bash" | "python3" | "node" | "pwsh";
                /** @description Seconds between two checks; without it, as many as SLIPWAY_DRIFT_CHECK_INTERVAL says */
                interval_seconds?: number;
                /** @description The script of the check. It must change nothing */
                script: string;
                /** @description Seconds until the check is killed; that of the action when omitted, or 60 if it has none. More than 300 are cut to 300 */
                timeout_seconds?: number;
            };
            /** @description Environment variables of the command, by name; their values are used as they are */
            env?: {
                [key: string]: string;
            };
            /** @description Content that lies in the working directory before the script starts */
            files?: components["schemas"]["ActionFile"][];
            /**
             * @description The program on the target that runs the script
             * @default sh
             * @enum {string}
             */
            interpreter?: "sh" | "bash" | "python3" | "node" | "pwsh";
            /**
             * @description How often a failed command is retried. A deployment may set another number
             * @default 0
             */
            max_retries?: number;
            /** @description Runs after a failure if the rollback strategy of the deployment names the step. It receives the same variables and files */
            rollback?: {
                /** @description The script that undoes the action */
                script: string;
            };
            /** @description The script, at most 256 KiB. `{{ name }}` becomes the value of the variable, quoted for its place in the script. A place that a program evaluates takes numbers only, or is refused */
            script: string;
            /**
             * @description Whether `{{ name }}` in the scripts becomes a value. False: it is the text of another tool, such as Jinja or Helm
             * @default true
             */
            templates?: boolean;
            /**
             * @description Seconds until an attempt of the command is killed. A deployment may set another timeout
             * @default 3600
             */
            timeout_seconds?: number;
            /**
             * @description The only kind of action
             * @constant
             */
            type: "script";
            /** @description The variables that a deployment of this version needs or accepts */
            variables?: components["schemas"]["VariableDefinition"][];
            /** @description The directory of the command. When omitted, an empty directory for this command alone */
            working_directory?: string;
        };
        ActionFile: {
            /** @description Id of content, from POST /api/v1/content */
            content: string;
            /**
             * @description Permissions in octal
             * @default 0644
             */
            mode?: string;
            /** @description Relative to the working directory and below it */
            path: string;
        };
        /** @description Commands run in the agent on the target. The agent enrols with a token of createAgentToken */
        AgentConnection: {
            /**
             * @description Commands run in the agent on the target
             * @constant
             */
            type: "agent";
        };
        AgentToken: {
            /**
             * Format: date-time
             * @description The token is void from this moment on, an hour after its creation
             */
            expires_at: string;
            /** @description For `target-agent enrol`, once. It is not shown again */
            token: string;
        };
        /** @description The explanation of a failed command */
        Analysis: {
            /**
             * Format: date-time
             * @description When the explanation was made
             */
            analyzed_at: string;
            /** @description How sure the explanation is: 1 is certain */
            confidence: number;
            /** @description The same for failures of one kind, on any target */
            fingerprint: string;
            /** @description Why it probably happened */
            likely_cause: string;
            /** @description The rules (rules-3), or the model of the configured endpoint */
            model_version: string;
            /** @description What to do, in order */
            remediation: string[];
            /** @description What happened, in a sentence */
            summary: string;
        };
        ApiKey: {
            /**
             * Format: date-time
             * @description When the key was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /** @description The key acts only in these environments; null: in all */
            environment_ids: string[] | null;
            /** @description The key is void from this moment on; null: it does not expire */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description UUID of the key
             */
            id: string;
            /** @description The first characters of the key, by which people recognise it */
            key_prefix: string;
            /** @description When the key was last used, to within a minute; null: never */
            last_used_at: string | null;
            /** @description The client address of that call; null: none */
            last_used_ip: string | null;
            /** @description Name, for people */
            name: string;
            /** @description The permissions of the key; an empty list: all permissions of its user. It never has more than its user */
            scopes: string[];
            /** @description The key acts only for these solutions; null: for every source */
            solution_ids: string[] | null;
        };
        ApiKeys: {
            /** @description The keys, the newest first */
            api_keys: components["schemas"]["ApiKey"][];
        };
        ApprovalRuleState: {
            /** @description Whether the author of a request may approve it */
            allow_author: boolean;
            /** @description How many users must approve, 1 to 5 */
            count: number;
            /**
             * Format: uuid
             * @description The environment whose rule asks
             */
            environment_id: string;
            /** @description Its name */
            environment_name: string;
            /** @description How many approvals are missing */
            missing: number;
            /** @description The name of the role that approvers need; null: every holder of deployments:approve approves */
            role: string | null;
        };
        /** @description The approvals that the request needs; absent if no rule asks for any */
        Approvals: {
            /**
             * Format: date-time
             * @description When the request ends if an approval is still missing
             */
            expires_at: string;
            /** @description The approvals, in the order in which they were given */
            given: components["schemas"]["GivenApproval"][];
            /** @description All rules that ask for approvals */
            rules: components["schemas"]["ApprovalRuleState"][];
        };
        Approve: {
            /** @description For people; the audit record has it */
            comment?: string;
            /** @description The plan_hash of the request that was looked at. If it is another one: 409 CONFLICT */
            plan_hash?: string;
        };
        AttemptsError: {
            /** @description Why the request was refused */
            error: {
                /**
                 * @description The only code of this refusal
                 * @constant
                 */
                code: "AUTH_RATE_LIMIT_EXCEEDED";
                /** @description What is wrong, for people */
                message: string;
                /** @description Which limit was reached, for people */
                reason: string;
                /** @description Seconds after which to try again */
                retry_after_secs: number;
            };
        };
        AuditChainPart: {
            /** @description The position before the first link that was checked */
            after: number;
            /** @description How many problems were found; 0: this part is whole */
            broken: number;
            /** @description How many links retention has dropped from the beginning */
            dropped: number;
            /** @description The first problems, at most 20 */
            findings: {
                /** @description The link that has the problem; null: a record without link */
                position: number | null;
                /** @description What is wrong, for people */
                problem: string;
                /** @description Number of the audit record; null: it is gone */
                record_number: number | null;
            }[];
            /** @description The last link. Compare it with the head that each gateway publishes in its log and its metrics */
            head: {
                /** @description Its hash, in hex */
                hash: string;
                /** @description Position of the last link */
                position: number;
            };
            /** @description How many links were checked */
            links: number;
            /** @description The `after` of the next part; null at the end of the chain */
            next: number | null;
        };
        AuditRecord: {
            /** @description What was done or refused: kind of record and verb */
            action: string;
            /** @description The user who called; null in a call without authentication */
            actor_id: string | null;
            /** @description Client address of the call; null: Slipway itself did it */
            actor_ip: string | null;
            /** @description Name of that user */
            actor_name: string | null;
            /** @description The API key that authenticated the call; null: none did */
            api_key_id: string | null;
            /** @description Name of that key. It stays when the key is deleted */
            api_key_name: string | null;
            /**
             * Format: date-time
             * @description When the change or the refusal was committed
             */
            at: string;
            /** @description What changed. For a refusal: `outcome` (`refused`, or `failed` after an error of the server), `status` and `code` */
            details: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description UUID of the record
             */
            id: string;
            /** @description The `X-Request-Id` of the call. All log lines of the call have it */
            request_id: string | null;
            /** @description The record, by id; null: none, for example in a refused create */
            resource_id: string | null;
            /** @description The kind of record */
            resource_type: string;
            /** @description The tenant of the record; null: none */
            tenant_id: string | null;
        };
        CancelDeployment: {
            /** @description Why, for people. The deployment shows it */
            reason?: string;
        };
        CatalogChecks: {
            /** @description Whether the permissions of the caller were not checked */
            assumed_permissions: boolean;
            /** @description What would become of each change, in their order */
            results: {
                /** @description Why the change would be refused; null: it would be made */
                error: {
                    /** @description What kind of refusal it is, for programs; `x-error-codes` lists those of each operation */
                    code: string;
                    /** @description More about the refusal, by code. `errors` of VALIDATION_ERROR lists up to 100 problems with their paths in the request; `more` counts the others */
                    details?: {
                        [key: string]: unknown;
                    };
                    /** @description What is wrong, for people */
                    message: string;
                    /** @description The status of the refusal */
                    status: number;
                } | null;
                /** @description The warnings of the answer */
                warnings: string[];
            }[];
        };
        /** @description `variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive until a request has a new value and a `sensitive_variables` without its name. */
        ChangeEnvironment: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name?: string;
            /** @description The place in lists and in the matrix: smaller numbers come first, and null after all numbers. Equal places are ordered by name */
            position?: number | null;
            /** @description What deployments to the environment, and to its targets, need before they start; null: nothing. A change replaces all of it */
            rules?: {
                /** @description Deployments need approvals: one of any holder of deployments:approve within a day, if nothing else is said */
                approvals?: {
                    /** @description Whether the author of a request may approve it */
                    allow_author?: boolean;
                    /** @description How many users must approve, 1 to 5 */
                    count?: number;
                    /** @description Seconds after which a request that still misses an approval ends, from queued_at or a later start_at */
                    expires_in_seconds?: number;
                    /** @description The name of the role that approvers need; null: every holder of deployments:approve approves */
                    role?: string | null;
                };
                /** @description A version is deployed only if it is in force in another environment, on all its targets and without drift. Going back to what was in force here before is always allowed */
                promotion?: {
                    /**
                     * Format: id-environment
                     * @description The environment in which the version must be in force before
                     */
                    from_environment_id: string;
                    /** @description For how many hours it must be in force there */
                    hours?: number;
                };
                /** @description Deployments start only inside one of these windows: from its start until just before its end. The fields are those of freezes */
                windows?: {
                    /**
                     * Format: date-time
                     * @description When the first window ends; after start_time
                     */
                    end_time: string;
                    /** @description The RFC 5545 RRULE that repeats the window, as for freezes */
                    recurrence?: string | null;
                    /**
                     * Format: date-time
                     * @description When the first window begins
                     */
                    start_time: string;
                    /** @description The IANA time zone of the recurrence */
                    time_zone?: string | null;
                }[];
            } | null;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters */
            sensitive_variables?: string[];
            /** @description The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant */
            tenant_id?: string | null;
            /** @description Values by name. Deployments that use the record receive them */
            variables?: components["schemas"]["Variables"];
        };
        /** @description `start_time` also sets the UTC offset of the recurrence. */
        ChangeFreeze: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * Format: date-time
             * @description When the first window ends; after start_time
             */
            end_time?: string;
            /** @description Freezes deployments that name this environment, or that select a target of it */
            environment_id?: string | null;
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name?: string;
            /** @description An RFC 5545 RRULE, without `RRULE:`, that repeats the window from start_time to end_time: FREQ (DAILY, WEEKLY, MONTHLY or YEARLY), INTERVAL, BYDAY (MO, 1MO, -1FR), BYMONTHDAY, BYMONTH, BYSETPOS, WKST, COUNT or UNTIL. Other parts, and rules that never match, are refused. Without time_zone, the rule uses the UTC offset of start_time all year. The first window always counts, even if the rule does not include it. A window longer than the shortest interval between two starts is refused. An equal length is allowed, and summer time is ignored. */
            recurrence?: string | null;
            /** @description Freezes deployments of this solution only */
            solution_id?: string | null;
            /**
             * Format: date-time
             * @description When the first window begins
             */
            start_time?: string;
            /** @description Freezes deployments that name this tenant, or that select a target of it */
            tenant_id?: string | null;
            /** @description The IANA time zone of the recurrence: windows begin at the same time of day there, in summer and winter, and all have the length of the first. For a time of day that the clocks skip, the UTC offset before the change counts. */
            time_zone?: string | null;
        };
        /** @description Only users without tenant change instances (403). */
        ChangeInstance: {
            /** @description true: the instance gets no new runs; false: it gets runs again */
            draining?: boolean;
            /** @description Replaces all labels, until the instance reports other labels */
            labels?: {
                [key: string]: string;
            };
        };
        ChangePassword: {
            /** @description The present password */
            current_password: string;
            /** @description The new password, 12 to 128 characters */
            new_password: components["schemas"]["NewPassword"];
        };
        /** @description Takes effect at once for all users with the role. `permissions` replaces all permissions; the caller needs those that are added. Built-in roles cannot be changed (409). */
        ChangeRole: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /**
             * Format: name
             * @description Unique name of 1 to 255 characters
             */
            name?: string;
            /** @description What users with the role may do. The caller needs all of them */
            permissions?: ("actions:create" | "actions:delete" | "actions:read" | "actions:update" | "audit:create" | "audit:delete" | "audit:read" | "audit:update" | "content:create" | "content:delete" | "content:read" | "content:update" | "deployments:approve" | "deployments:cancel" | "deployments:create" | "deployments:delete" | "deployments:override" | "deployments:read" | "deployments:update" | "environments:create" | "environments:delete" | "environments:read" | "environments:update" | "freezes:create" | "freezes:delete" | "freezes:read" | "freezes:update" | "instances:create" | "instances:delete" | "instances:read" | "instances:update" | "roles:create" | "roles:delete" | "roles:read" | "roles:update" | "sequences:create" | "sequences:delete" | "sequences:read" | "sequences:update" | "solutions:create" | "solutions:delete" | "solutions:read" | "solutions:update" | "tags:create" | "tags:delete" | "tags:read" | "tags:update" | "targets:create" | "targets:delete" | "targets:local" | "targets:read" | "targets:update" | "tenants:create" | "tenants:delete" | "tenants:read" | "tenants:update" | "users:create" | "users:delete" | "users:read" | "users:update" | "webhooks:create" | "webhooks:delete" | "webhooks:read" | "webhooks:update")[];
        };
        /** @description A published version never changes: publish a new version instead. */
        ChangeSource: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name?: string;
        };
        /** @description `connection` replaces the whole connection. Its secrets need to be sent again only if its type, host, port or user name changes. `tags` replaces all tags. `variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive until a request has a new value and a `sensitive_variables` without its name. */
        ChangeTarget: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            /** @description How commands reach the target */
            connection?: components["schemas"]["ConnectionInput"];
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /** @description Whether deployments may use the target */
            enabled?: boolean;
            /** @description The environment that the target belongs to */
            environment_id?: string | null;
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name?: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters */
            sensitive_variables?: string[];
            /** @description Tags, by which deployments select the target */
            tags?: components["schemas"]["Tag"][];
            /** @description The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant */
            tenant_id?: string | null;
            /** @description Values by name. Deployments that use the record receive them */
            variables?: components["schemas"]["Variables"];
        };
        /** @description `variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive until a request has a new value and a `sensitive_variables` without its name. */
        ChangeTenant: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name?: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters */
            sensitive_variables?: string[];
            /** @description Short name of lower-case letters, digits and hyphens, unique among tenants. When omitted, it is made of the name */
            slug?: string;
            /** @description Values by name. Deployments that use the record receive them */
            variables?: components["schemas"]["Variables"];
        };
        /** @description A new password, another tenant, and a status other than `active` end the sessions and open streams of the user. `roles` replaces all roles without a scope, `role_bindings` all roles with one. Callers cannot suspend, move or demote themselves, nor the last active administrator without tenant (409). A change of roles or tenant needs every permission that the user has afterwards (403). For a caller with a tenant, `tenant_id` always counts as that tenant. To change password or e-mail, the caller needs every permission of the user (403). Renaming and suspending need only `users:update`. A service account has no e-mail and no password (409). Roles and tenant of a user of a login provider come from the rules of the provider, and such a user gets a password only with `break_glass` (409). */
        ChangeUser: {
            /** @description Whether the user may log in by password although password login is switched off; false when omitted. Only administrators without tenant may change it, and only logged in as a person (403) */
            break_glass?: boolean;
            /** @description Full name for people */
            display_name?: string | null;
            /**
             * Format: email
             * @description Unique e-mail address, with which the user logs in; in upper or lower case. Required unless `kind` is `service`
             */
            email?: string;
            /** @description Whether the e-mail belongs to the user. A new e-mail counts as not verified unless this is true */
            email_verified?: boolean;
            /** @description The new password, 12 to 128 characters. Required unless `kind` is `service` */
            password?: string;
            /** @description Roles that let the user act in some environments or for some solutions only. The caller needs their permissions in that scope or a wider one */
            role_bindings?: components["schemas"]["GivenRoleBinding"][];
            /** @description Names of roles. The caller needs all their permissions. */
            roles?: string[];
            /**
             * @description A suspended or inactive user can do nothing. Takes effect at once; active when omitted
             * @enum {string}
             */
            status?: "active" | "inactive" | "suspended";
            /** @description The tenant that the user belongs to; null: the user sees all tenants. Users whom a caller with a tenant creates belong to that tenant */
            tenant_id?: string | null;
            /**
             * Format: name
             * @description Unique name, shown wherever the user did something
             */
            username?: string;
        };
        /** @description The tenant of a webhook cannot change, because its deliveries contain data of the tenant. A new secret signs from the next attempt on. */
        ChangeWebhook: {
            /** @description Whether it gets events; true when omitted */
            enabled?: boolean;
            /** @description Each needs the permission to read its data. `deployment.queued` and `pending.*` contain the list item of the pending request. `deployment.updated`: a rollback began, or another instance took over. `release.restored`: a check found the target in sync again, or another deployment was applied. `*.deleted` contain only the id. */
            events?: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "deployment.approval_needed" | "deployment.approved" | "deployment.rejected" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /** @description Signs deliveries after Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes */
            secret?: string;
            /** @description http or https, without user name and password, with a public address */
            url?: string;
        };
        /** @description A record or version whose creation is refused counts as created for the changes after it, unless the caller lacks the permission. So one answer names all problems. */
        CheckCatalog: {
            /** @description Whether a caller that may change nothing of the catalog is checked as if it might create, change and delete what it reads. So the account of a preview needs no right to write */
            assume_permissions?: boolean;
            /** @description The changes in their order. Each sees what those before it have done */
            changes: ({
                /** @description What is done */
                what: string;
            } & ({
                /** @description The body of the call, as of the operation that makes this change */
                body: unknown;
                /**
                 * Format: uuid
                 * @description A UUID that the caller makes up. Later changes of the request refer to the record by it
                 */
                id: string;
                /**
                 * @description The kind of record
                 * @enum {string}
                 */
                kind: "tenant" | "environment" | "action" | "sequence" | "solution" | "target" | "freeze";
                /**
                 * @description Creates a record
                 * @constant
                 */
                what: "create";
            } | {
                /** @description The body of the call, as of the operation that makes this change */
                body: unknown;
                /**
                 * Format: uuid
                 * @description The record, by UUID
                 */
                id: string;
                /**
                 * @description The kind of record
                 * @enum {string}
                 */
                kind: "tenant" | "environment" | "action" | "sequence" | "solution" | "target" | "freeze";
                /**
                 * @description Changes a record
                 * @constant
                 */
                what: "change";
            } | {
                /** @description The body of the call, as of the operation that publishes a version */
                body: unknown;
                /**
                 * Format: uuid
                 * @description The source, by UUID
                 */
                id: string;
                /**
                 * @description The kind of record
                 * @enum {string}
                 */
                kind: "action" | "sequence" | "solution";
                /**
                 * @description Publishes a version
                 * @constant
                 */
                what: "publish";
            } | {
                /**
                 * Format: date-time
                 * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
                 */
                expected_updated_at?: string;
                /**
                 * Format: uuid
                 * @description The record, by UUID
                 */
                id: string;
                /**
                 * @description The kind of record
                 * @enum {string}
                 */
                kind: "tenant" | "environment" | "action" | "sequence" | "solution" | "target" | "freeze";
                /**
                 * @description Deletes a record
                 * @constant
                 */
                what: "delete";
            } | {
                /** @description SHA-256 of the content, in hex */
                id: string;
                /** @description Bytes */
                size: number;
                /**
                 * @description Uploads content
                 * @constant
                 */
                what: "upload";
            } | {
                /**
                 * Format: uuid
                 * @description A UUID that the caller makes up. Later changes of the request refer to the record by it
                 */
                id: string;
                /**
                 * @description The kind of record
                 * @enum {string}
                 */
                kind: "tenant" | "environment" | "action" | "sequence" | "solution";
                /**
                 * @description Assumes a record that other changes refer to: it belongs to no tenant, and every version requirement is satisfied
                 * @constant
                 */
                what: "assume";
            }))[];
        };
        /** @description At most one source. Without targets: on all targets. At least one of both is needed. */
        CheckReleases: {
            /**
             * Format: id-action
             * @description The action, by UUID or SqId
             */
            action_id?: string;
            /**
             * Format: id-sequence
             * @description The sequence, by UUID or SqId
             */
            sequence_id?: string;
            /**
             * Format: id-solution
             * @description The solution, by UUID or SqId
             */
            solution_id?: string;
            /** @description The targets to check. When omitted: all on which the source is in force */
            target_ids?: string[];
        };
        CheckRequested: {
            /**
             * Format: date-time
             * @description A later `checked_at` is of this or of a later check
             */
            requested_at: string;
            /** @description Releases that are checked */
            total: number;
            /** @description Releases in force that none of their actions has a check for */
            unchecked: number;
        };
        CliToken: {
            /** @description The code that the browser brought to the program */
            code: string;
            /** @description The code verifier that belongs to the code challenge (RFC 7636) */
            code_verifier: string;
        };
        CommandResult: {
            /** @description Name of the action */
            action_name?: string;
            /** @description Version of the action */
            action_version?: string;
            /** @description The explanation of a failed command */
            analysis?: components["schemas"]["Analysis"];
            /**
             * Format: date-time
             * @description When the last attempt ended
             */
            completed_at: string;
            /** @description How many lines of its output, over all attempts, were dropped because the log had reached its limit of bytes */
            dropped_lines: number;
            /** @description Milliseconds from started_at to completed_at */
            duration_ms: number;
            /** @description Why the command failed or was cancelled */
            error_message?: string;
            /** @description Exit code of the last attempt; absent: it has none */
            exit_code?: number;
            /**
             * @description Why the command failed; absent where its exit code or its output tells
             * @enum {string}
             */
            failure_reason?: "signal" | "step_timeout" | "deployment_timeout" | "deployment_ended" | "instance_lost" | "instance_restarted" | "instance_cut_off" | "target_refused" | "target_silent" | "target_name_unknown" | "target_authentication" | "target_host_key" | "target_connection_lost" | "target_shell" | "working_directory_missing" | "interpreter_missing" | "content_not_delivered";
            /**
             * Format: uuid
             * @description UUID of the step
             */
            id: string;
            /**
             * Format: date-time
             * @description When the start of the last attempt was recorded, which is before it began
             */
            started_at: string;
            /** @description How the last attempt ended: `completed`, `failed` or `cancelled` */
            status: string;
            /** @description The last 2,000 characters of the standard error, with secrets masked */
            stderr_tail?: string;
            /** @description The last 2,000 characters of the standard output, with secrets masked */
            stdout_tail?: string;
            /**
             * Format: uuid
             * @description The target, by UUID
             */
            target_id: string;
            /** @description Its name */
            target_name?: string;
        };
        /** @description How commands reach the target, without secrets */
        Connection: components["schemas"]["LocalConnection"] | components["schemas"]["SshConnection"] | components["schemas"]["AgentConnection"] | components["schemas"]["SimulatedConnection"];
        ConnectionInput: components["schemas"]["LocalConnection"] | components["schemas"]["SshConnectionInput"] | components["schemas"]["AgentConnection"] | components["schemas"]["SimulatedConnection"];
        Content: {
            /** @description SHA-256 of the content, in hex */
            id: string;
            /** @description Bytes */
            size: number;
        };
        CreateAction: {
            /** @description A script with all that it needs */
            definition: components["schemas"]["ActionDefinition"];
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /** @description The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant */
            tenant_id?: string | null;
            /**
             * Format: version
             * @description A full semantic version that the source does not have yet. A published version never changes
             */
            version: string;
        };
        CreateActionVersion: {
            /** @description A script with all that it needs */
            definition: components["schemas"]["ActionDefinition"];
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /**
             * Format: version
             * @description A full semantic version that the source does not have yet. A published version never changes
             */
            version: string;
        };
        CreateApiKey: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /** @description The key reads what its user reads, and deploys, cancels, approves and changes freezes and targets only in these environments; in all when omitted or null */
            environment_ids?: string[] | null;
            /** @description Days from now; without it the key does not expire */
            expires_in_days?: number;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /** @description The permissions of the key. When omitted or empty, all that its user may do, now and after later changes of roles */
            scopes?: ("actions:create" | "actions:delete" | "actions:read" | "actions:update" | "audit:create" | "audit:delete" | "audit:read" | "audit:update" | "content:create" | "content:delete" | "content:read" | "content:update" | "deployments:approve" | "deployments:cancel" | "deployments:create" | "deployments:delete" | "deployments:override" | "deployments:read" | "deployments:update" | "environments:create" | "environments:delete" | "environments:read" | "environments:update" | "freezes:create" | "freezes:delete" | "freezes:read" | "freezes:update" | "instances:create" | "instances:delete" | "instances:read" | "instances:update" | "roles:create" | "roles:delete" | "roles:read" | "roles:update" | "sequences:create" | "sequences:delete" | "sequences:read" | "sequences:update" | "solutions:create" | "solutions:delete" | "solutions:read" | "solutions:update" | "tags:create" | "tags:delete" | "tags:read" | "tags:update" | "targets:create" | "targets:delete" | "targets:local" | "targets:read" | "targets:update" | "tenants:create" | "tenants:delete" | "tenants:read" | "tenants:update" | "users:create" | "users:delete" | "users:read" | "users:update" | "webhooks:create" | "webhooks:delete" | "webhooks:read" | "webhooks:update")[];
            /** @description The key reads what its user reads, and deploys, cancels, approves and changes freezes and targets only for these solutions; for every source when omitted or null */
            solution_ids?: string[] | null;
        };
        CreatedApiKey: {
            /** @description The new key, as lists show it */
            api_key: components["schemas"]["ApiKey"];
            /** @description The key. Send it as `Authorization: Bearer …`. It is not shown again */
            full_key: string;
            /** @description A reminder for people */
            warning: string;
        };
        CreateDeployment: {
            /**
             * Format: id-action
             * @description The action to deploy, by UUID or SqId. Give exactly one source
             */
            action_id?: string;
            /** @description Whether instances download all files again instead of using those that they keep; false when omitted */
            bypass_cache?: boolean;
            /** @description Seconds from the start of the deployment after which it fails; 0: no limit, also when omitted */
            deployment_timeout_seconds?: number;
            /** @description Answers 200 with the preview, and creates nothing */
            dry_run?: boolean;
            /**
             * Format: id-environment
             * @description The environment, by UUID or SqId. It gives variables to all targets, and they must be of it, or of no environment. If it is omitted, each target gets the variables of its own environment
             */
            environment_id?: string;
            /** @description The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences lists the parts that differ. A preview and dry_run ignore it. */
            expected_plan_hash?: string;
            /**
             * Format: date-time
             * @description If it has not started by then, it ends as cancelled. After start_at, and in the future
             */
            expires_at?: string;
            /** @description What a failed command stops: `stop_on_first_failure` (the default) starts nothing more anywhere, while commands that run finish; `continue_on_failure` skips the rest of that target only; `ignore_failures` goes on everywhere, and the deployment ends with success if any step completed */
            failure_strategy?: components["schemas"]["FailureStrategy"];
            /** @description How often a failed command is retried. When omitted, the number of each action */
            max_retries?: number;
            /** @description Leaves out targets on which the same versions and values are in force and nothing was attempted since. The answer lists them as unchanged_target_ids, in config of a deployment. If no target is left, nothing starts: 200 with deployment_id null. A preview is then 409 CONFLICT with details.unchanged_target_ids. */
            only_changed?: boolean;
            /** @description Whether to deploy in spite of a freeze; false when omitted. The user of the credential needs the role admin, and an API key with scopes also deployments:override (403 otherwise, also without a freeze). Give override_reason. An admin of a tenant overrides only freezes of that tenant */
            override_freeze?: boolean;
            /** @description Why freezes or rules are overridden; the audit record has it */
            override_reason?: string;
            /** @description Whether to deploy in spite of the rules of environments; false when omitted. It needs what override_freeze needs, and override_reason. An admin of a tenant overrides only rules of environments of that tenant */
            override_rules?: boolean;
            /** @description Priority in the queue, -100 to 100; a higher number starts first */
            priority?: number;
            /** @description Values of prompted variables, by name or by id of the definition. They go before `variables` */
            prompted_values?: {
                [key: string]: unknown;
            };
            /** @description Whose rollback scripts run after a failure: `none` (the default); `failed_target_only`, of the targets on which a step failed; `all_executed`, of every target with executed steps */
            rollback_strategy?: components["schemas"]["RollbackStrategy"];
            /**
             * Format: id-sequence
             * @description The sequence to deploy, by UUID or SqId. Give exactly one source
             */
            sequence_id?: string;
            /**
             * Format: id-solution
             * @description The solution to deploy, by UUID or SqId. Give exactly one source
             */
            solution_id?: string;
            /**
             * Format: date-time
             * @description It starts no earlier: it waits until then. A moment in the past is now. A redeploy does not repeat it
             */
            start_at?: string;
            /** @description Refuses the request if it would get one of these warnings: templates without a value, variables that nothing uses, offline targets, targets in more than one environment. details.warnings lists them. Freezes, capacity and stale targets do not count. */
            strict?: boolean;
            /** @description Targets by id. They run in this order, before those that tags select. A disabled target, or one of another environment, is 400 */
            target_ids?: string[];
            /** @description `sequential`: one target after the other (the default); `parallel`: all at once; `rolling`: batches of `batch_size` targets, and a batch begins when all targets of the one before have ended */
            target_mode?: components["schemas"]["TargetMode"];
            /** @description Targets by tag: those with any of the tags, by name, without disabled ones and those of another environment. target_tags_match_all asks for all of the tags. If no target has the tags, the answer is 400 */
            target_tags?: components["schemas"]["Tag"][];
            /** @description Whether a target needs all of the target_tags, not only one of them; false when omitted */
            target_tags_match_all?: boolean;
            /**
             * Format: id-tenant
             * @description The tenant to deploy for, by UUID or SqId. Needs environment_id. When omitted: the tenant of the caller, and none for a caller without tenant
             */
            tenant_id?: string;
            /** @description Seconds until an attempt of a command is killed. When omitted, that of each action */
            timeout_seconds?: number;
            /** @description Values by name, for all steps. They go before those of all records */
            variables?: components["schemas"]["Variables"];
            /**
             * Format: version-requirement
             * @description An npm version range. The highest version in the range counts; without a range, the highest that is no pre-release
             */
            version_requirement?: string;
            /**
             * Format: uuid
             * @description A deployment of the same source, by UUID: the source and everything that it is made of get the versions of that deployment. Not together with version_requirement
             */
            versions_of?: string;
        };
        CreatedWebhook: {
            /**
             * Format: date-time
             * @description When the webhook was created
             */
            created_at: string;
            /** @description Why Slipway disabled the webhook; null: it did not */
            disabled_reason: string | null;
            /** @description Whether it gets events */
            enabled: boolean;
            /** @description The events that it gets */
            events: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "deployment.approval_needed" | "deployment.approved" | "deployment.rejected" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /**
             * Format: uuid
             * @description UUID of the webhook
             */
            id: string;
            /** @description The generated secret. It is not shown again */
            secret?: string;
            /** @description The webhook gets the events of this tenant; null: of all */
            tenant_id: string | null;
            /**
             * Format: date-time
             * @description When the webhook was last changed
             */
            updated_at: string;
            /** @description Where Slipway sends deliveries, by POST */
            url: string;
        };
        CreateEnvironment: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /** @description The place in lists and in the matrix: smaller numbers come first, and null after all numbers. Equal places are ordered by name */
            position?: number | null;
            /** @description What deployments to the environment, and to its targets, need before they start; null: nothing. A change replaces all of it */
            rules?: {
                /** @description Deployments need approvals: one of any holder of deployments:approve within a day, if nothing else is said */
                approvals?: {
                    /** @description Whether the author of a request may approve it */
                    allow_author?: boolean;
                    /** @description How many users must approve, 1 to 5 */
                    count?: number;
                    /** @description Seconds after which a request that still misses an approval ends, from queued_at or a later start_at */
                    expires_in_seconds?: number;
                    /** @description The name of the role that approvers need; null: every holder of deployments:approve approves */
                    role?: string | null;
                };
                /** @description A version is deployed only if it is in force in another environment, on all its targets and without drift. Going back to what was in force here before is always allowed */
                promotion?: {
                    /**
                     * Format: id-environment
                     * @description The environment in which the version must be in force before
                     */
                    from_environment_id: string;
                    /** @description For how many hours it must be in force there */
                    hours?: number;
                };
                /** @description Deployments start only inside one of these windows: from its start until just before its end. The fields are those of freezes */
                windows?: {
                    /**
                     * Format: date-time
                     * @description When the first window ends; after start_time
                     */
                    end_time: string;
                    /** @description The RFC 5545 RRULE that repeats the window, as for freezes */
                    recurrence?: string | null;
                    /**
                     * Format: date-time
                     * @description When the first window begins
                     */
                    start_time: string;
                    /** @description The IANA time zone of the recurrence */
                    time_zone?: string | null;
                }[];
            } | null;
            /**
             * @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters
             * @default []
             */
            sensitive_variables?: string[];
            /** @description The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant */
            tenant_id?: string | null;
            /**
             * @description Values by name. Deployments that use the record receive them
             * @default {}
             */
            variables?: {
                [key: string]: unknown;
            };
        };
        CreateFreeze: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * Format: date-time
             * @description When the first window ends; after start_time
             */
            end_time: string;
            /** @description Freezes deployments that name this environment, or that select a target of it */
            environment_id?: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /** @description An RFC 5545 RRULE, without `RRULE:`, that repeats the window from start_time to end_time: FREQ (DAILY, WEEKLY, MONTHLY or YEARLY), INTERVAL, BYDAY (MO, 1MO, -1FR), BYMONTHDAY, BYMONTH, BYSETPOS, WKST, COUNT or UNTIL. Other parts, and rules that never match, are refused. Without time_zone, the rule uses the UTC offset of start_time all year. The first window always counts, even if the rule does not include it. A window longer than the shortest interval between two starts is refused. An equal length is allowed, and summer time is ignored. */
            recurrence?: string | null;
            /** @description Freezes deployments of this solution only */
            solution_id?: string | null;
            /**
             * Format: date-time
             * @description When the first window begins
             */
            start_time: string;
            /** @description Freezes deployments that name this tenant, or that select a target of it */
            tenant_id?: string | null;
            /** @description The IANA time zone of the recurrence: windows begin at the same time of day there, in summer and winter, and all have the length of the first. For a time of day that the clocks skip, the UTC offset before the change counts. */
            time_zone?: string | null;
        };
        /** @description Only users without tenant create grants (403). */
        CreateInstanceGrant: {
            /** @description Seconds from now on, 60 to 604,800; 3600 when omitted */
            expires_in_seconds?: number;
            /** @description Labels that the instance may have: a key with the allowed value, or with null for any value. An instance with any other label is refused. */
            labels?: {
                [key: string]: string | null;
            };
            /** @description An instance that joins runs only deployments of this tenant */
            tenant_id?: string | null;
            /** @description How many instances can join; 1 when omitted */
            uses?: number;
        };
        CreateQueued: {
            /** @description What happened, for people */
            message: string;
            /**
             * @description true: the request waits in the queue
             * @constant
             */
            pending: true;
            /**
             * Format: uuid
             * @description The pending request, by UUID. Its `deployment_id` names the deployment after the start
             */
            pending_request_id: string;
            /** @description The targets that only_changed left out; absent without it */
            unchanged_target_ids?: string[];
            /** @description Templates without a value, variables that nothing uses, offline and stale targets, active freezes */
            warnings: string[];
        };
        CreateRole: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * Format: name
             * @description Unique name of 1 to 255 characters
             */
            name: string;
            /** @description What users with the role may do. The caller needs all of them */
            permissions: ("actions:create" | "actions:delete" | "actions:read" | "actions:update" | "audit:create" | "audit:delete" | "audit:read" | "audit:update" | "content:create" | "content:delete" | "content:read" | "content:update" | "deployments:approve" | "deployments:cancel" | "deployments:create" | "deployments:delete" | "deployments:override" | "deployments:read" | "deployments:update" | "environments:create" | "environments:delete" | "environments:read" | "environments:update" | "freezes:create" | "freezes:delete" | "freezes:read" | "freezes:update" | "instances:create" | "instances:delete" | "instances:read" | "instances:update" | "roles:create" | "roles:delete" | "roles:read" | "roles:update" | "sequences:create" | "sequences:delete" | "sequences:read" | "sequences:update" | "solutions:create" | "solutions:delete" | "solutions:read" | "solutions:update" | "tags:create" | "tags:delete" | "tags:read" | "tags:update" | "targets:create" | "targets:delete" | "targets:local" | "targets:read" | "targets:update" | "tenants:create" | "tenants:delete" | "tenants:read" | "tenants:update" | "users:create" | "users:delete" | "users:read" | "users:update" | "webhooks:create" | "webhooks:delete" | "webhooks:read" | "webhooks:update")[];
        };
        CreateSequence: {
            /** @description An ordered list of actions */
            definition: components["schemas"]["SequenceDefinition"];
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /** @description The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant */
            tenant_id?: string | null;
            /**
             * Format: version
             * @description A full semantic version that the source does not have yet. A published version never changes
             */
            version: string;
        };
        CreateSequenceVersion: {
            /** @description An ordered list of actions */
            definition: components["schemas"]["SequenceDefinition"];
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /**
             * Format: version
             * @description A full semantic version that the source does not have yet. A published version never changes
             */
            version: string;
        };
        CreateSolution: {
            /** @description An ordered list of sequences */
            definition: components["schemas"]["SolutionDefinition"];
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /** @description The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant */
            tenant_id?: string | null;
            /**
             * Format: version
             * @description A full semantic version that the source does not have yet. A published version never changes
             */
            version: string;
        };
        CreateSolutionVersion: {
            /** @description An ordered list of sequences */
            definition: components["schemas"]["SolutionDefinition"];
            /**
             * Format: date-time
             * @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)
             */
            expected_updated_at?: string;
            /**
             * Format: version
             * @description A full semantic version that the source does not have yet. A published version never changes
             */
            version: string;
        };
        CreateStarted: {
            /** @description The new deployment */
            deployment: components["schemas"]["DeploymentDetail"];
            /**
             * Format: uuid
             * @description The new deployment, by UUID
             */
            deployment_id: string;
            /** @description What happened, for people */
            message: string;
            /**
             * @description false: the deployment has started
             * @constant
             */
            pending: false;
            /** @description Templates without a value, variables that nothing uses, offline and stale targets, active freezes */
            warnings: string[];
        };
        CreateTarget: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            /** @description How commands reach the target */
            connection: components["schemas"]["ConnectionInput"];
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /**
             * @description Whether deployments may use the target
             * @default true
             */
            enabled?: boolean;
            /** @description The environment that the target belongs to */
            environment_id?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /**
             * @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters
             * @default []
             */
            sensitive_variables?: string[];
            /**
             * @description Tags, by which deployments select the target
             * @default []
             */
            tags?: components["schemas"]["Tag"][];
            /** @description The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant */
            tenant_id?: string | null;
            /**
             * @description Values by name. Deployments that use the record receive them
             * @default {}
             */
            variables?: {
                [key: string]: unknown;
            };
        };
        CreateTenant: {
            /** @description Free text for people, at most 10,000 characters */
            description?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by?: string | null;
            /**
             * Format: name
             * @description A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that differ only in case, composition or invisible characters are the same name
             */
            name: string;
            /**
             * @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters
             * @default []
             */
            sensitive_variables?: string[];
            /** @description Short name of lower-case letters, digits and hyphens, unique among tenants. When omitted, it is made of the name */
            slug?: string;
            /**
             * @description Values by name. Deployments that use the record receive them
             * @default {}
             */
            variables?: {
                [key: string]: unknown;
            };
        };
        CreateTrust: {
            /** @description The claim `aud` of the tokens, or one entry of it */
            audience: string;
            /** @description Claims that a token must have, with their values. A value that ends in `*` matches every text with that beginning. All must match; a claim that is no text never matches. Name at least one claim besides `iss` and `aud` */
            claims: {
                [key: string]: string;
            };
            /** @description Issuer of the tokens, exactly as in their claim `iss`. It begins with https:// */
            issuer: string;
            /**
             * Format: name
             * @description Name of the trust, unique in its account
             */
            name: string;
        };
        CreateUser: {
            /** @description Whether the user may log in by password although password login is switched off; false when omitted. Only administrators without tenant may change it, and only logged in as a person (403) */
            break_glass?: boolean;
            /** @description Full name for people */
            display_name?: string | null;
            /**
             * Format: email
             * @description Unique e-mail address, with which the user logs in; in upper or lower case. Required unless `kind` is `service`
             */
            email?: string;
            /** @description Whether the e-mail belongs to the user. A new e-mail counts as not verified unless this is true */
            email_verified?: boolean;
            /**
             * @description `service`: an account of a pipeline, without e-mail, password and login; `person` when omitted. It cannot be changed
             * @enum {string}
             */
            kind?: "person" | "service";
            /** @description The new password, 12 to 128 characters. Required unless `kind` is `service` */
            password?: string;
            /** @description Roles that let the user act in some environments or for some solutions only. The caller needs their permissions in that scope or a wider one */
            role_bindings?: components["schemas"]["GivenRoleBinding"][];
            /** @description Names of roles. The caller needs all their permissions. */
            roles: string[];
            /**
             * @description A suspended or inactive user can do nothing. Takes effect at once; active when omitted
             * @enum {string}
             */
            status?: "active" | "inactive" | "suspended";
            /** @description The tenant that the user belongs to; null: the user sees all tenants. Users whom a caller with a tenant creates belong to that tenant */
            tenant_id?: string | null;
            /**
             * Format: name
             * @description Unique name, shown wherever the user did something
             */
            username: string;
        };
        /** @description Without `secret`, Slipway generates one and shows it only in this answer. */
        CreateWebhook: {
            /** @description Whether it gets events; true when omitted */
            enabled?: boolean;
            /** @description Each needs the permission to read its data. `deployment.queued` and `pending.*` contain the list item of the pending request. `deployment.updated`: a rollback began, or another instance took over. `release.restored`: a check found the target in sync again, or another deployment was applied. `*.deleted` contain only the id. */
            events: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "deployment.approval_needed" | "deployment.approved" | "deployment.rejected" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /** @description Signs deliveries after Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes */
            secret?: string;
            /** @description The webhook gets the events of this tenant; without tenant, which only a user without tenant may choose, all */
            tenant_id?: string | null;
            /** @description http or https, without user name and password, with a public address */
            url: string;
        };
        CurrentUser: {
            /** @description The API key of this call; null: it is authenticated by a session */
            api_key_id: string | null;
            /** @description Name of that key */
            api_key_name: string | null;
            /**
             * Format: date-time
             * @description When the user was created
             */
            created_at: string;
            /** @description Full name for people */
            display_name: string | null;
            /** @description E-mail address, with which the user logs in; null for a service account */
            email: string | null;
            /** @description Whether the e-mail address belongs to the user */
            email_verified: boolean;
            /**
             * Format: uuid
             * @description UUID of the user
             */
            id: string;
            /** @description Who the user is at the provider with which the user logs in; null: the user logs in with a password, or never */
            identity: components["schemas"]["Identity"] | null;
            /**
             * @description `service`: an account of a pipeline, without e-mail, password and login
             * @enum {string}
             */
            kind: "person" | "service";
            /** @description When the user last logged in; null: never */
            last_login_at: string | null;
            /** @description The permissions that the user has without a scope. GET /auth/can tells the others */
            permissions: string[];
            /** @description The roles with a scope. Each gives all its permissions to read, and within its scope those to deploy, cancel and approve, and to change freezes and targets */
            role_bindings: components["schemas"]["RoleBinding"][];
            /** @description Names of the roles without a scope */
            roles: string[];
            /** @description `active`, `inactive` or `suspended`. Only active users can do anything */
            status: string;
            /** @description The tenant that the user belongs to; null: none, the user sees all tenants */
            tenant_id: string | null;
            /** @description Whether a login needs a second factor */
            two_factor_enabled: boolean;
            /** @description Unique name, shown wherever the user did something */
            username: string;
        };
        /** @description What was asked for, with the defaults filled in */
        DeploymentConfig: {
            /** @description The environment of the request; null: none */
            environment_id: string | null;
            /** @description What a failed command stops: `stop_on_first_failure` (the default) starts nothing more anywhere, while commands that run finish; `continue_on_failure` skips the rest of that target only; `ignore_failures` goes on everywhere, and the deployment ends with success if any step completed */
            failure_strategy: components["schemas"]["FailureStrategy"];
            /** @description How often a failed command is retried */
            max_retries: number;
            /** @description Priority in the queue, -100 to 100 */
            priority: number;
            /** @description Whose rollback scripts run after a failure: `none` (the default); `failed_target_only`, of the targets on which a step failed; `all_executed`, of every target with executed steps */
            rollback_strategy: components["schemas"]["RollbackStrategy"];
            /** @description The targets that the request named by id */
            target_ids: string[];
            /** @description `sequential`: one target after the other (the default); `parallel`: all at once; `rolling`: batches of `batch_size` targets, and a batch begins when all targets of the one before have ended */
            target_mode: components["schemas"]["TargetMode"];
            /** @description The tags by which the request selected targets */
            target_tags: components["schemas"]["Tag"][];
            /** @description The tenant of the request; null: none */
            tenant_id: string | null;
            /** @description Seconds that an attempt of a command may take */
            timeout_seconds: number;
            /** @description The targets that only_changed left out; absent without it */
            unchanged_target_ids?: string[];
            /** @description Values of the request; sensitive ones are `***` */
            variables: components["schemas"]["Variables"];
        };
        DeploymentDetail: {
            /** @description The deployed action; null for other sources */
            action_id: string | null;
            /** @description Its name */
            action_name: string | null;
            /** @description The deployed version of it */
            action_version: string | null;
            /** @description Whether failed commands are analysed */
            analysis_enabled: boolean;
            /** @description The name of the API key with which it was asked for; null: a person asked */
            api_key_name: string | null;
            /** @description The users who approved it before it started, by rules of its environments; empty if nobody had to */
            approved_by: components["schemas"]["GivenApproval"][];
            /** @description The reason that the user gave; null: none */
            cancel_reason: string | null;
            /** @description When it was cancelled; null: it was not */
            cancelled_at: string | null;
            /** @description The name of the user who cancelled it; null: nobody did */
            cancelled_by: string | null;
            /** @description When it ended; null: not yet */
            completed_at: string | null;
            /** @description Steps whose command succeeded */
            completed_steps: number;
            /** @description What was asked for, with the defaults filled in */
            config: components["schemas"]["DeploymentConfig"];
            /**
             * Format: date-time
             * @description When it was created
             */
            created_at: string;
            /** @description Milliseconds from started_at to completed_at; null: not ended */
            duration_ms: number | null;
            /** @description The environment that the deployment names; null: none */
            environment_id: string | null;
            /** @description Its name */
            environment_name: string | null;
            /** @description Why the deployment failed, also after its rollback; null: it did not */
            error_message: string | null;
            /** @description Steps whose command failed after all its attempts */
            failed_steps: number;
            /**
             * Format: uuid
             * @description UUID of the deployment
             */
            id: string;
            /** @description The plan with the states of its steps; null in the answers of a cancel and a redeploy */
            plan: components["schemas"]["PlanView"] | null;
            /** @description The versions of the source that it replaced, the most frequent first, by the first 25 targets that it reached */
            previous_versions: string[];
            /** @description Share of the steps that have ended. It never falls */
            progress: number;
            /** @description The deployed sequence; null for other sources */
            sequence_id: string | null;
            /** @description Its name */
            sequence_name: string | null;
            /** @description The deployed version of it */
            sequence_version: string | null;
            /** @description The deployed solution; null for other sources */
            solution_id: string | null;
            /** @description Its name */
            solution_name: string | null;
            /** @description The deployed version of it */
            solution_version: string | null;
            /**
             * Format: uuid
             * @description The deployment that was redeployed; absent if this is no redeploy
             */
            source_deployment_id?: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description When it got a slot of an instance */
            started_at: string | null;
            /** @description Where the deployment stands. `success`, `failed`, `cancelled` and `rolled_back` are final and never change. No deployment is shown as `pending` or `queued`: before its start there is a pending request */
            state: components["schemas"]["DeploymentState"];
            /** @description Targets of the plan */
            target_count: number;
            /** @description The tenant that the deployment is for; null: none */
            tenant_id: string | null;
            /** @description Its name */
            tenant_name: string | null;
            /** @description Steps of the plan: targets times actions */
            total_steps: number;
            /** @description The name of the user who created it, also by an API key */
            triggered_by: string | null;
        };
        DeploymentOfTarget: {
            /** @description The deployed action; null for other sources */
            action_id: string | null;
            /** @description Its name */
            action_name: string | null;
            /** @description The deployed version of it */
            action_version: string | null;
            /** @description The name of the API key with which it was asked for; null: a person asked */
            api_key_name: string | null;
            /** @description When it ended; null: not yet */
            completed_at: string | null;
            /** @description Steps whose command succeeded */
            completed_steps: number;
            /**
             * Format: date-time
             * @description When it was created
             */
            created_at: string;
            /** @description Milliseconds from started_at to completed_at; null: not ended */
            duration_ms: number | null;
            /** @description The environment that the deployment names; null: none */
            environment_id: string | null;
            /** @description Its name */
            environment_name: string | null;
            /** @description Steps whose command failed after all its attempts */
            failed_steps: number;
            /**
             * Format: uuid
             * @description UUID of the deployment
             */
            id: string;
            /** @description The versions of the source that it replaced, the most frequent first, by the first 25 targets that it reached */
            previous_versions: string[];
            /** @description Share of the steps that have ended. It never falls */
            progress: number;
            /** @description The deployed sequence; null for other sources */
            sequence_id: string | null;
            /** @description Its name */
            sequence_name: string | null;
            /** @description The deployed version of it */
            sequence_version: string | null;
            /** @description The deployed solution; null for other sources */
            solution_id: string | null;
            /** @description Its name */
            solution_name: string | null;
            /** @description The deployed version of it */
            solution_version: string | null;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description When it got a slot of an instance */
            started_at: string | null;
            /** @description Where the deployment stands. `success`, `failed`, `cancelled` and `rolled_back` are final and never change. No deployment is shown as `pending` or `queued`: before its start there is a pending request */
            state: components["schemas"]["DeploymentState"];
            /** @description Targets of the plan */
            target_count: number;
            /** @description The steps on this target. Failed are those that have ever failed */
            target_steps: {
                /** @description Steps whose command succeeded */
                completed: number;
                /** @description Steps whose command has ever failed */
                failed: number;
                /** @description Steps on this target */
                total: number;
            };
            /** @description The tenant that the deployment is for; null: none */
            tenant_id: string | null;
            /** @description Its name */
            tenant_name: string | null;
            /** @description Steps of the plan: targets times actions */
            total_steps: number;
            /** @description The name of the user who created it, also by an API key */
            triggered_by: string | null;
        };
        /**
         * @description Where the deployment stands. `success`, `failed`, `cancelled` and `rolled_back` are final and never change. No deployment is shown as `pending` or `queued`: before its start there is a pending request
         * @enum {string}
         */
        DeploymentState: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "rolling_back" | "rolled_back";
        DeploymentSummary: {
            /** @description The deployed action; null for other sources */
            action_id: string | null;
            /** @description Its name */
            action_name: string | null;
            /** @description The deployed version of it */
            action_version: string | null;
            /** @description The name of the API key with which it was asked for; null: a person asked */
            api_key_name: string | null;
            /** @description When it ended; null: not yet */
            completed_at: string | null;
            /** @description Steps whose command succeeded */
            completed_steps: number;
            /**
             * Format: date-time
             * @description When it was created
             */
            created_at: string;
            /** @description Milliseconds from started_at to completed_at; null: not ended */
            duration_ms: number | null;
            /** @description The environment that the deployment names; null: none */
            environment_id: string | null;
            /** @description Its name */
            environment_name: string | null;
            /** @description Steps whose command failed after all its attempts */
            failed_steps: number;
            /**
             * Format: uuid
             * @description UUID of the deployment
             */
            id: string;
            /** @description The versions of the source that it replaced, the most frequent first, by the first 25 targets that it reached */
            previous_versions: string[];
            /** @description Share of the steps that have ended. It never falls */
            progress: number;
            /** @description The deployed sequence; null for other sources */
            sequence_id: string | null;
            /** @description Its name */
            sequence_name: string | null;
            /** @description The deployed version of it */
            sequence_version: string | null;
            /** @description The deployed solution; null for other sources */
            solution_id: string | null;
            /** @description Its name */
            solution_name: string | null;
            /** @description The deployed version of it */
            solution_version: string | null;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description When it got a slot of an instance */
            started_at: string | null;
            /** @description Where the deployment stands. `success`, `failed`, `cancelled` and `rolled_back` are final and never change. No deployment is shown as `pending` or `queued`: before its start there is a pending request */
            state: components["schemas"]["DeploymentState"];
            /** @description Targets of the plan */
            target_count: number;
            /** @description The tenant that the deployment is for; null: none */
            tenant_id: string | null;
            /** @description Its name */
            tenant_name: string | null;
            /** @description Steps of the plan: targets times actions */
            total_steps: number;
            /** @description The name of the user who created it, also by an API key */
            triggered_by: string | null;
        };
        Environment: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency: ("allow" | "queue" | "reject" | "supersede") | null;
            /**
             * Format: date-time
             * @description When the record was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /**
             * Format: uuid
             * @description UUID of the record. It never changes
             */
            id: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by: string | null;
            /** @description Name, unique among the records of this kind that belong to the same tenant, or to none */
            name: string;
            /** @description The place in lists and in the matrix: smaller numbers come first, and null after all numbers. Equal places are ordered by name */
            position: number | null;
            /** @description What deployments to the environment, and to its targets, need before they start; null: nothing */
            rules: {
                /** @description The approvals that deployments need */
                approvals?: {
                    /** @description Whether the author of a request may approve it */
                    allow_author: boolean;
                    /** @description How many users must approve, 1 to 5 */
                    count: number;
                    /** @description Seconds after which a request that still misses an approval ends, from queued_at or a later start_at */
                    expires_in_seconds: number;
                    /** @description The name of the role that approvers need; null: every holder of deployments:approve approves */
                    role: string | null;
                };
                /** @description Where a version must be in force before */
                promotion?: {
                    /**
                     * Format: uuid
                     * @description The environment in which the version must be in force before
                     */
                    from_environment_id: string;
                    /** @description For how many hours it must be in force there */
                    hours: number;
                };
                /** @description Deployments start only inside one of these windows: from its start until just before its end. The fields are those of freezes */
                windows?: {
                    /**
                     * Format: date-time
                     * @description When the first window ends; after start_time
                     */
                    end_time: string;
                    /** @description The RFC 5545 RRULE that repeats the window, as for freezes */
                    recurrence?: string | null;
                    /**
                     * Format: date-time
                     * @description When the first window begins
                     */
                    start_time: string;
                    /** @description The IANA time zone of the recurrence */
                    time_zone?: string | null;
                }[];
            } | null;
            /** @description Names of the variables with values that are never shown */
            sensitive_variables: string[];
            /** @description Short id of the record. Paths and bodies accept it wherever they accept the UUID */
            sqid: string;
            /** @description The tenant that owns the record; null: the record belongs to no tenant */
            tenant_id: string | null;
            /**
             * Format: date-time
             * @description When the record was last changed
             */
            updated_at: string;
            /** @description Values by name; `***` for those of sensitive_variables */
            variables: components["schemas"]["Variables"];
        };
        Error: {
            /** @description Why the request was refused */
            error: {
                /** @description What kind of refusal it is, for programs; `x-error-codes` lists those of each operation */
                code: string;
                /** @description More about the refusal, by code. `errors` of VALIDATION_ERROR lists up to 100 problems with their paths in the request; `more` counts the others */
                details?: {
                    [key: string]: unknown;
                };
                /** @description What is wrong, for people */
                message: string;
            };
        };
        ExchangedToken: {
            /** @description Send it as `Authorization: Bearer …` */
            access_token: string;
            /** @description Seconds for which the access token is valid. It cannot be refreshed */
            expires_in: number;
            /**
             * @description What the token is
             * @constant
             */
            issued_token_type: "urn:ietf:params:oauth:token-type:access_token";
            /**
             * @description How the token is sent
             * @constant
             */
            token_type: "Bearer";
            /** @description The service account */
            user: components["schemas"]["User"];
        };
        /** @description As in RFC 8693, in JSON or form-encoded */
        ExchangeToken: {
            /**
             * @description Always this value
             * @constant
             */
            grant_type: "urn:ietf:params:oauth:grant-type:token-exchange";
            /** @description User name of the service account */
            service_account: string;
            /** @description The ID token that the platform of the pipeline made for this job */
            subject_token: string;
            /**
             * @description Always this value
             * @constant
             */
            subject_token_type: "urn:ietf:params:oauth:token-type:jwt";
        };
        /**
         * @description What a failed command stops: `stop_on_first_failure` (the default) starts nothing more anywhere, while commands that run finish; `continue_on_failure` skips the rest of that target only; `ignore_failures` goes on everywhere, and the deployment ends with success if any step completed
         * @enum {string}
         */
        FailureStrategy: "stop_on_first_failure" | "continue_on_failure" | "ignore_failures";
        Freeze: {
            /** @description Whether a window is open now */
            active: boolean;
            /**
             * Format: date-time
             * @description When the freeze was created
             */
            created_at: string;
            /** @description The name of the user who created the freeze */
            created_by: string | null;
            /** @description Free text for people */
            description: string | null;
            /**
             * Format: date-time
             * @description When the first window ends
             */
            end_time: string;
            /** @description Freezes deployments of this environment and to its targets; null: the environment does not matter */
            environment_id: string | null;
            /**
             * Format: uuid
             * @description UUID of the freeze
             */
            id: string;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by: string | null;
            /** @description Name, unique among the freezes that belong to the same tenant, or to none */
            name: string;
            /** @description The RFC 5545 RRULE that repeats the first window; null: there is one window */
            recurrence: string | null;
            /** @description Freezes deployments of this solution; null: the source does not matter */
            solution_id: string | null;
            /**
             * Format: date-time
             * @description When the first window begins
             */
            start_time: string;
            /** @description Freezes deployments of this tenant and to its targets; null: the tenant does not matter */
            tenant_id: string | null;
            /** @description The IANA time zone of the recurrence; null: the UTC offset of start_time counts */
            time_zone: string | null;
            /**
             * Format: date-time
             * @description When the freeze was last changed
             */
            updated_at: string;
            /** @description The present window and the next ones, in order: those that begin within 14 days, at most 100. If none begins by then, the next one within a year. */
            windows: {
                /**
                 * Format: date-time
                 * @description When the window ends
                 */
                ends_at: string;
                /**
                 * Format: date-time
                 * @description When the window begins
                 */
                starts_at: string;
            }[];
        };
        GivenApproval: {
            /**
             * Format: date-time
             * @description When it was given
             */
            at: string;
            /** @description What the user wrote; null: nothing */
            comment: string | null;
            /**
             * Format: uuid
             * @description The user who approved, by UUID
             */
            user_id: string;
            /** @description The name of the user */
            user_name: string;
        };
        GivenRoleBinding: {
            /** @description The role lets the user act only in these environments; in all when omitted or null */
            environment_ids?: string[] | null;
            /** @description Name of the role */
            role: string;
            /** @description The role lets the user act only for these solutions; for every source when omitted or null */
            solution_ids?: string[] | null;
        };
        Identity: {
            /** @description Id of the provider */
            provider: string;
            /** @description The claim `sub` of the user at the provider */
            subject: string;
        };
        Installed: {
            /** @description When it was applied; null: nothing is in force */
            applied_at: string | null;
            /** @description The name of the user who created that deployment */
            applied_by: string | null;
            /** @description What checks found. Null if nothing is in force on the target, or none of its actions declares a check */
            check: components["schemas"]["ReleaseCheck"] | null;
            /** @description The deployment that applied it; null for none */
            deployment_id: string | null;
            /** @description The environment of the target; if it has none, that of the deployment */
            environment_id: string | null;
            /** @description Its name */
            environment_name: string | null;
            /** @description The last attempt, if it is not applied: it runs, failed, was cancelled or was rolled back */
            last_attempt: {
                /**
                 * Format: date-time
                 * @description When its first command on the target started
                 */
                begun_at: string;
                /**
                 * Format: uuid
                 * @description The deployment, by UUID. Retention may have deleted it
                 */
                deployment_id: string;
                /** @description When it had nothing left to do on the target; null: not yet */
                ended_at: string | null;
                /**
                 * @description What became of a deployment on one target. It is applied when all its commands on the target have succeeded there, or, where failures are ignored, have been executed.
                 * @enum {string}
                 */
                state: "running" | "applied" | "failed" | "cancelled" | "rolling_back" | "rolled_back" | "rollback_failed";
                /** @description The name of the user who created the deployment */
                triggered_by: string | null;
                /** @description The version that it deployed */
                version: string;
            } | null;
            /**
             * Format: uuid
             * @description The source, by UUID
             */
            source_id: string;
            /** @description Its name */
            source_name: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description The state of the last attempt; `drifted` if a check found the version in force changed and no attempt runs */
            state: components["schemas"]["ShownReleaseState"];
            /**
             * Format: uuid
             * @description The target, by UUID
             */
            target_id: string;
            /** @description Its name */
            target_name: string;
            /** @description The tenant of the deployment; null: none */
            tenant_id: string | null;
            /** @description Its name */
            tenant_name: string | null;
            /** @description Equal for equal versions of all actions and equal values of all variables on the target, layer by layer. */
            values_hash: string | null;
            /** @description Equal for equal versions of the source and of everything that it is made of. Null for a single action */
            variant: string | null;
            /** @description How many variants of this version are in force on the targets that the filters leave */
            variants: number;
            /** @description The version that was applied last and not rolled back; null for none */
            version: string | null;
        };
        Instance: {
            /** @description Deployments that the instance runs now */
            active: number;
            /** @description Labels that the instance may have: a key with the allowed value, or with null for any value. An instance with any other label is refused. */
            allowed_labels: {
                [key: string]: string | null;
            };
            /** @description Deployments that the instance can run at once */
            capacity: number;
            /**
             * Format: date-time
             * @description When the instance joined
             */
            created_at: string;
            /** @description Whether somebody drained the instance: it finishes its runs and gets no new ones */
            draining: boolean;
            /**
             * Format: uuid
             * @description UUID of the instance
             */
            id: string;
            /** @description Labels, by which instance selectors find the instance */
            labels: {
                [key: string]: string;
            };
            /** @description When the instance last called; null: never */
            last_heartbeat_at: string | null;
            /** @description Unique name, which the instance says when it joins */
            name: string;
            /**
             * @description offline: no heartbeat for 30 seconds; draining: the instance finishes its runs and gets no new ones
             * @enum {string}
             */
            status: "online" | "draining" | "offline";
            /** @description The instance runs only deployments of this tenant; null: of all */
            tenant_id: string | null;
            /** @description The version of Slipway that the instance runs */
            version: string;
        };
        InstanceGrant: {
            /**
             * Format: date-time
             * @description When the grant was created
             */
            created_at: string;
            /** @description The user who created the grant; null: it was made on the command line of the server */
            created_by: string | null;
            /**
             * Format: date-time
             * @description The grant lets nothing join from this moment on
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description UUID of the grant
             */
            id: string;
            /** @description Labels that the instance may have: a key with the allowed value, or with null for any value. An instance with any other label is refused. */
            labels: {
                [key: string]: string | null;
            };
            /**
             * @description Only an active grant lets an instance join
             * @enum {string}
             */
            status: "active" | "used_up" | "expired";
            /** @description Instances that join run only deployments of this tenant; null: of all */
            tenant_id: string | null;
            /** @description How many instances have joined with the grant */
            used: number;
            /** @description How many instances can join with the grant */
            uses: number;
        };
        /** @description The instances that the request needs. Absent if any instance will do */
        InstancePool: {
            /** @description How many of those take runs: online, compatible and not draining */
            accepting: number;
            /** @description Instances that serve the tenant of the request */
            known: number;
            /** @description How many of them have the labels */
            matching: number;
            /** @description The selector as text, such as `zone=a,!spot`; the same as the label of metrics */
            name: string;
            /** @description The place among the requests of this pool, from 1 */
            position: number;
            /** @description Conditions on the labels of an instance, all of which it must meet. NotIn also accepts an instance without the label. */
            selector: components["schemas"]["InstanceSelector"];
            /** @description Slots of the instances that take runs */
            slots: number;
            /** @description How many of these slots are taken */
            taken: number;
        };
        /** @description Conditions on the labels of an instance, all of which it must meet. NotIn also accepts an instance without the label. */
        InstanceSelector: {
            /** @description Conditions on single labels; the instance must meet all of them */
            match_expressions?: components["schemas"]["LabelExpression"][];
            /** @description Labels that the instance has, with these values */
            match_labels?: {
                [key: string]: string;
            };
        };
        LabelExpression: {
            /** @description Key of the label */
            key: string;
            /**
             * @description Whether the value must or must not be one of `values`
             * @enum {string}
             */
            operator: "In" | "NotIn";
            /** @description The values to compare with */
            values: string[];
        } | {
            /** @description Key of the label */
            key: string;
            /**
             * @description Whether the instance must or must not have the label
             * @enum {string}
             */
            operator: "Exists" | "DoesNotExist";
        };
        ListedContent: {
            /** @description SHA-256 of the content, in hex */
            id: string;
            /** @description Bytes */
            size: number;
            /** @description When it was last uploaded: by a user of the tenant of the caller, or by anybody if the caller has none. Null: the tenant did not upload it, and an action uses it */
            uploaded_at: string | null;
            /** @description The newest of these versions, at most 3 */
            used_by: {
                /**
                 * Format: uuid
                 * @description The action, by UUID
                 */
                action_id: string;
                /** @description Its name */
                action_name: string;
                /**
                 * Format: version
                 * @description A full semantic version
                 */
                version: string;
            }[];
            /** @description How many versions of actions use it, of those that the caller may see. Content that no version uses is deleted some days after its last upload */
            version_count: number;
        };
        /** @description Commands run on the machine of the orchestration instance. Creating a local target, or changing a target to local, needs the permission `targets:local`; users of a tenant never may. */
        LocalConnection: {
            /**
             * @description Commands run on the machine of the orchestration instance
             * @constant
             */
            type: "local";
        };
        LogEntry: {
            /** @description The explanation, on the line that tells that a command failed; else null */
            analysis: components["schemas"]["Analysis"] | null;
            /** @description Always `log` */
            event_type: string;
            /**
             * Format: uuid
             * @description UUID of the line, computed from the deployment and its number
             */
            id: string;
            /** @description `info`, `warning` or `error` */
            level: string;
            /** @description The line, with secrets masked */
            message: string;
            /** @description More about the line. `seq` is its number in the deployment, from 0 */
            metadata: {
                [key: string]: unknown;
            } | null;
            /** @description The line, if the command wrote it to standard error */
            stderr: string | null;
            /** @description The line, if the command wrote it to standard output */
            stdout: string | null;
            /** @description The step that wrote it; null: the line is about the whole deployment */
            step_id: string | null;
            /** @description The target of the step; null: none */
            target_id: string | null;
            /** @description Its name; null: none */
            target_name: string | null;
            /**
             * Format: date-time
             * @description When the line was written
             */
            timestamp: string;
        };
        LoginAnswer: components["schemas"]["LoginResponse"] | components["schemas"]["TwoFactorRequired"];
        LoginProvider: {
            /** @description Names the provider in paths */
            id: string;
            /** @description Where a login begins. A browser opens it */
            login_path: string;
            /**
             * Format: name
             * @description What the button of the login page says
             */
            name: string;
        };
        LoginProviders: {
            /** @description Whether users may log in with e-mail and password; if false, only users with `break_glass` may */
            password_login: boolean;
            /** @description The OpenID Connect providers, in the order of the configuration */
            providers: components["schemas"]["LoginProvider"][];
        };
        LoginRequest: {
            /** @description E-mail address of the user, in upper or lower case */
            email: string;
            /** @description Password of the user */
            password: string;
        };
        LoginResponse: {
            /** @description Send it as `Authorization: Bearer …` */
            access_token: string;
            /** @description Seconds for which the access token is valid */
            expires_in: number;
            /**
             * @description How the token is sent
             * @constant
             */
            token_type: "Bearer";
            /** @description The user who logged in */
            user: components["schemas"]["User"];
        };
        MatrixRow: {
            /** @description A cell for each environment and tenant with releases of the source */
            cells: {
                /** @description Targets on which a check found the version in force changed */
                drifted: number;
                /** @description The environment of the targets; null: they have none */
                environment_id: string | null;
                /** @description Its name */
                environment_name: string | null;
                /** @description Its place: cells come by it, then by name; null: after all numbers */
                environment_position: number | null;
                /** @description Targets with a last attempt that failed or was rolled back */
                failed: number;
                /** @description Targets with an attempt that runs or rolls back */
                running: number;
                /** @description Targets with a version in force or an attempt */
                target_count: number;
                /** @description The tenant of the deployments; null: none */
                tenant_id: string | null;
                /** @description Its name */
                tenant_name: string | null;
                /** @description The versions in force, the highest first */
                versions: {
                    /**
                     * Format: date-time
                     * @description When it was last applied to one of them
                     */
                    applied_at: string;
                    /** @description The name of the user who created that deployment */
                    applied_by: string | null;
                    /**
                     * Format: uuid
                     * @description The deployment that did it
                     */
                    deployment_id: string;
                    /** @description How many targets have it */
                    target_count: number;
                    /** @description How many variants of it the targets have: they differ in the versions of what the source is made of */
                    variants: number;
                    /** @description The version */
                    version: string;
                }[];
            }[];
            /**
             * Format: uuid
             * @description The source, by UUID
             */
            source_id: string;
            /** @description Its name */
            source_name: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
        };
        Message: {
            /** @description What was done, for people */
            message: string;
        };
        /** @description What is missing before a version may be deployed to the next environment */
        MissingPromotion: {
            /** @description How many of these targets have drifted */
            drifted_targets: number;
            /**
             * Format: uuid
             * @description The environment in which the version must be in force before
             */
            from_environment_id: string;
            /** @description Its name */
            from_environment_name: string;
            /** @description When the version may go on; null unless only time is missing */
            ready_at: string | null;
            /** @description Since when this is so; null: the source is not in force there */
            since: string | null;
            /** @description The version that was asked for */
            version: string;
            /** @description What is in force there */
            versions: {
                /** @description On how many targets */
                targets: number;
                /** @description A version that is in force there */
                version: string;
            }[];
        };
        NewInstanceGrant: {
            /**
             * Format: date-time
             * @description When the grant was created
             */
            created_at: string;
            /** @description The user who created the grant; null: it was made on the command line of the server */
            created_by: string | null;
            /**
             * Format: date-time
             * @description The grant lets nothing join from this moment on
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description UUID of the grant
             */
            id: string;
            /** @description Labels that the instance may have: a key with the allowed value, or with null for any value. An instance with any other label is refused. */
            labels: {
                [key: string]: string | null;
            };
            /**
             * @description Only an active grant lets an instance join
             * @enum {string}
             */
            status: "active" | "used_up" | "expired";
            /** @description Instances that join run only deployments of this tenant; null: of all */
            tenant_id: string | null;
            /** @description The join token for the instance. It is not shown again. */
            token: string;
            /** @description How many instances have joined with the grant */
            used: number;
            /** @description How many instances can join with the grant */
            uses: number;
        };
        /** @description The new password, 12 to 128 characters */
        NewPassword: string;
        NoBody: Record<string, never>;
        NothingToDeploy: {
            /** @description null: nothing was created */
            deployment_id: null;
            /** @description What happened, for people */
            message: string;
            /**
             * @description false: nothing waits
             * @constant
             */
            pending: false;
            /** @description The targets that only_changed left out: all */
            unchanged_target_ids: string[];
        };
        Overview: {
            /**
             * Format: date-time
             * @description The clock of the database
             */
            at: string;
            /** @description How many there are of all that the caller may see */
            counts: {
                /** @description Deployments that ended as `failed` or `rolled_back` in the last 24 hours */
                failed: number;
                /** @description Requests that wait in the queue, also parked ones */
                pending: number;
                /** @description Deployments that run or roll back */
                running: number;
                /** @description Requests that the caller may approve now */
                to_approve: number;
            };
            /** @description Those that ended last */
            ended: components["schemas"]["DeploymentSummary"][];
            /** @description The deployments that failed in the last 24 hours */
            failures: {
                /** @description By the fingerprint of the first failed command, the most frequent first. Of more than 2,000 failures, the newest count */
                groups: {
                    /** @description How many deployments failed in this way */
                    count: number;
                    /** @description The newest of them */
                    deployments: components["schemas"]["DeploymentSummary"][];
                    /** @description The kind of the failure; null: no explanation has one */
                    fingerprint: string | null;
                    /** @description What the first failed command of the newest of them says */
                    summary: string;
                }[];
                /**
                 * Format: date-time
                 * @description 24 hours before `at`
                 */
                since: string;
                /** @description The failures since then, as `counts.failed` */
                total: number;
            };
            /** @description The freezes; null without the permission `freezes:read` */
            freezes: {
                /** @description The freezes that are in force, the first to end first */
                active: {
                    /**
                     * Format: uuid
                     * @description The freeze, by UUID
                     */
                    id: string;
                    /** @description Its name */
                    name: string;
                    /** @description When its present window ends; null: nobody knows */
                    until: string | null;
                }[];
                /** @description The windows that begin next, within a year */
                next: {
                    /**
                     * Format: date-time
                     * @description When its next window begins
                     */
                    from: string;
                    /**
                     * Format: uuid
                     * @description The freeze, by UUID
                     */
                    id: string;
                    /** @description Its name */
                    name: string;
                }[];
            } | null;
            /** @description The queue */
            queue: {
                /** @description When the first request of the queue probably starts; null: nobody knows, or none waits for a slot */
                first_estimated_start: string | null;
                /** @description What they wait for, in the order of the queue, parked ones last. Of the requests that are not parked, the first 500 count */
                reasons: {
                    /** @description How many requests wait for it */
                    count: number;
                    /** @description How many further sources they deploy */
                    more_sources: number;
                    /** @description The instances that they need, with `capacity` and `instance_pool`; null: any */
                    pool_name: string | null;
                    /** @description The first sources that they deploy */
                    source_names: string[];
                    /**
                     * @description What the requests wait for first
                     * @enum {string}
                     */
                    waiting_for: "start_time" | "approval" | "window" | "promotion" | "freeze" | "instance_pool" | "no_compatible_instance" | "tenant_limit" | "target_lock" | "capacity";
                }[];
                /** @description Requests that wait, as `counts.pending` */
                total: number;
            };
            /** @description Deployments that run: those that roll back first, then the newest */
            running: components["schemas"]["DeploymentSummary"][];
            /** @description The slots of instances; null without the permission `instances:read` */
            slots: {
                /** @description Free slots of the instances that are online */
                free: number;
                /** @description The instances that joined last */
                instances: {
                    /** @description Deployments that the instance runs now */
                    active: number;
                    /** @description Deployments that the instance can run at once */
                    capacity: number;
                    /**
                     * Format: uuid
                     * @description UUID of the instance
                     */
                    id: string;
                    /** @description Unique name, which the instance says when it joins */
                    name: string;
                    /**
                     * @description offline: no heartbeat for 30 seconds; draining: the instance finishes its runs and gets no new ones
                     * @enum {string}
                     */
                    status: "online" | "draining" | "offline";
                }[];
                /** @description Instances that are online */
                online: number;
                /** @description Instances that have joined */
                total: number;
                /** @description Slots that deployments use now */
                used: number;
            } | null;
        };
        OverviewCounts: {
            /**
             * Format: date-time
             * @description The clock of the database
             */
            at: string;
            /** @description How many there are of all that the caller may see */
            counts: {
                /** @description Deployments that ended as `failed` or `rolled_back` in the last 24 hours */
                failed: number;
                /** @description Requests that wait in the queue, also parked ones */
                pending: number;
                /** @description Deployments that run or roll back */
                running: number;
                /** @description Requests that the caller may approve now */
                to_approve: number;
            };
        };
        /** @description Where this page stands in the list */
        PageMeta: {
            /** @description Whether a page follows */
            has_next: boolean;
            /** @description Whether a page comes before */
            has_prev: boolean;
            /** @description Entries on a full page */
            limit: number;
            /** @description Only with `cursor` in the request: the `cursor` of the next page; null: nothing follows */
            next_cursor?: string | null;
            /** @description The number of this page, from 1 */
            page: number;
            /** @description Entries on all pages */
            total: number;
            /** @description How many pages there are */
            total_pages: number;
        };
        PendingDetail: {
            /** @description The approvals that the request needs; absent if no rule asks for any */
            approvals?: components["schemas"]["Approvals"];
            /** @description All reasons that keep it from starting, one for each code, in the order start_time, approval, window, promotion, freeze, instance_pool, no_compatible_instance, tenant_limit, target_lock, capacity. Empty: it can start */
            blockers?: {
                /** @description Whether the caller may start the deployment in spite of it. Always false in streams and webhooks */
                can_override: boolean;
                /**
                 * @description What keeps the deployment from starting
                 * @enum {string}
                 */
                code: "start_time" | "approval" | "window" | "promotion" | "freeze" | "instance_pool" | "no_compatible_instance" | "tenant_limit" | "target_lock" | "capacity";
                /** @description What blocks. Only the members of the code are there */
                details: {
                    /** @description The environments that are outside of their windows; with `window` */
                    environments?: {
                        /**
                         * Format: uuid
                         * @description The environment, by UUID
                         */
                        environment_id: string;
                        /** @description Its name */
                        environment_name: string;
                    }[];
                    /**
                     * Format: date-time
                     * @description When the request ends without them; with `approval`
                     */
                    expires_at?: string;
                    /** @description The freezes, without those of other tenants; with `freeze` */
                    freezes?: {
                        /**
                         * Format: date-time
                         * @description When its present window ends
                         */
                        ends_at: string;
                        /**
                         * Format: uuid
                         * @description The freeze, by UUID
                         */
                        id: string;
                        /** @description Its name */
                        name: string;
                        /** @description The targets because of which it applies; absent if it covers the deployment itself */
                        target_ids?: string[];
                    }[];
                    /** @description The approvals so far; with `approval` */
                    given?: components["schemas"]["GivenApproval"][];
                    /** @description How many targets other deployments hold; with `target_lock` */
                    held_count?: number;
                    /** @description The targets that other deployments hold, at most 3, those held longest first; with `target_lock` */
                    held_targets?: {
                        /**
                         * Format: uuid
                         * @description The deployment that holds the target; absent if it is of another tenant
                         */
                        deployment_id?: string;
                        /**
                         * Format: date-time
                         * @description Since when that deployment holds the target
                         */
                        since: string;
                        /**
                         * Format: uuid
                         * @description The target, by UUID
                         */
                        target_id: string;
                        /** @description Its name */
                        target_name: string;
                    }[];
                    /** @description The instances that the deployment needs; with `instance_pool`, `no_compatible_instance` and `capacity` */
                    instances?: {
                        /** @description How many of those take runs: online, compatible and not draining */
                        accepting: number;
                        /** @description Instances that serve the tenant */
                        known: number;
                        /** @description How many of them have the labels */
                        matching: number;
                        /** @description The selector as text; `any` if every instance will do */
                        name: string;
                        /** @description The labels that it needs; null: every instance will do */
                        selector: components["schemas"]["InstanceSelector"] | null;
                        /** @description Slots of the instances that take runs */
                        slots: number;
                        /** @description How many of these slots are taken */
                        taken: number;
                    };
                    /** @description How many a tenant may run at once; with `tenant_limit` */
                    limit?: number;
                    /** @description What the version misses before it may go on; with `promotion` */
                    promotions?: components["schemas"]["MissingPromotion"][];
                    /** @description How many such targets there are; with `target_lock` */
                    reserved_count?: number;
                    /** @description Free targets for which an earlier request comes first, at most 3; with `target_lock` */
                    reserved_targets?: {
                        /**
                         * Format: uuid
                         * @description The target, by UUID
                         */
                        target_id: string;
                        /** @description Its name */
                        target_name: string;
                    }[];
                    /** @description The rules that miss approvals; with `approval` */
                    rules?: components["schemas"]["ApprovalRuleState"][];
                    /** @description How many deployments the tenant runs; with `tenant_limit` */
                    running?: number;
                    /**
                     * Format: date-time
                     * @description When it may start; with `start_time`
                     */
                    start_at?: string;
                };
                /** @description The same for people, with names and numbers */
                message: string;
                /** @description When it blocks no more; null: nobody can know */
                until: string | null;
            }[];
            /** @description Whether the caller may approve it. Absent unless it waits; always false in streams and webhooks */
            can_approve?: boolean;
            /**
             * @description Who or what cancelled it: a user, a newer request, an approver who rejected it, the end of the time for approvals, or `expires_at`
             * @enum {string}
             */
            cancelled_because?: "user" | "superseded" | "rejected" | "approval_expired" | "expired";
            /** @description When the request was created, in UTC */
            created_at: string;
            /**
             * Format: uuid
             * @description The deployment that it became; absent until it is dispatched
             */
            deployment_id?: string;
            /** @description When it was dispatched, in UTC */
            dispatched_at?: string;
            /**
             * Format: uuid
             * @description The instance that took the deployment, by UUID
             */
            dispatched_to_instance_id?: string;
            /** @description The latest `until` of the blockers; null if one of them has none. The present time if there is no blocker */
            earliest_start?: string | null;
            /**
             * Format: uuid
             * @description The environment that the request names; absent: none
             */
            environment_id?: string;
            /** @description Its name */
            environment_name?: string;
            /** @description Why dispatching it failed, which newer request replaced it, or who rejected it */
            error_message?: string;
            /** @description When it probably starts, from the usual length of runs; absent if that cannot be told, in UTC */
            estimated_start?: string;
            /**
             * Format: date-time
             * @description It starts before this moment or never; absent: at any time
             */
            expires_at?: string;
            /** @description The targets that other deployments hold, at most 3, those held longest first; with `target_lock` */
            held_targets?: {
                /**
                 * Format: uuid
                 * @description The deployment that holds the target; absent if it is of another tenant
                 */
                deployment_id?: string;
                /**
                 * Format: date-time
                 * @description Since when that deployment holds the target
                 */
                since: string;
                /**
                 * Format: uuid
                 * @description The target, by UUID
                 */
                target_id: string;
                /** @description Its name */
                target_name: string;
            }[];
            /**
             * Format: uuid
             * @description UUID of the request
             */
            id: string;
            /** @description The instances that the request needs. Absent if any instance will do */
            instance_pool?: components["schemas"]["InstancePool"];
            /** @description When dispatching it last failed; absent: never, in UTC */
            last_retry_at?: string;
            /** @description The plan that would run, with secrets masked; absent unless the request waits */
            plan?: components["schemas"]["PlanView"];
            /** @description Stands for the plan that would run. Send it with an approval */
            plan_hash?: string;
            /** @description Place in the queue, from 1; absent unless the request waits in the queue: not for its start time, an approval or a window */
            position?: number;
            /** @description Priority in the queue, -100 to 100; a higher number starts first */
            priority: number;
            /** @description When the request was queued, in UTC */
            queued_at: string;
            /** @description What is in force now on the targets of the plan; absent unless the request waits */
            replaces?: components["schemas"]["Replacement"][];
            /** @description How often dispatching it has failed */
            retry_count: number;
            /**
             * Format: uuid
             * @description What would be deployed, by UUID
             */
            source_id: string;
            /** @description Its name */
            source_name: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description The version that would be deployed */
            source_version: string;
            /**
             * Format: date-time
             * @description It starts no earlier; absent: at once
             */
            start_at?: string;
            /** @description Where the request stands: `pending` waits, `processing` is being dispatched; the others are final */
            status: components["schemas"]["PendingStatus"];
            /**
             * Format: uuid
             * @description The newer request of the same source that replaced it, or its deployment if that one started at once
             */
            superseded_by?: string;
            /** @description How many targets the plan has */
            target_count: number;
            /** @description The first targets of the plan, in its order, at most 5; target_count counts all */
            targets: {
                /**
                 * Format: uuid
                 * @description The record, by UUID
                 */
                id: string;
                /** @description Its name */
                name: string;
            }[];
            /**
             * Format: uuid
             * @description The tenant that the deployment is for; absent: none
             */
            tenant_id?: string;
            /** @description Its name */
            tenant_name?: string;
            /** @description The name of the user who created it, also by an API key */
            triggered_by?: string;
            /**
             * @description What the request waits for; absent unless it waits
             * @enum {string}
             */
            waiting_for?: "start_time" | "approval" | "window" | "promotion" | "freeze" | "instance_pool" | "no_compatible_instance" | "tenant_limit" | "target_lock" | "capacity";
            /** @description The same for people, with names and numbers */
            waiting_reason?: string;
        };
        /** @description A create that waits in the queue, or has waited there */
        PendingRequest: {
            /** @description The approvals that the request needs; absent if no rule asks for any */
            approvals?: components["schemas"]["Approvals"];
            /** @description All reasons that keep it from starting, one for each code, in the order start_time, approval, window, promotion, freeze, instance_pool, no_compatible_instance, tenant_limit, target_lock, capacity. Empty: it can start */
            blockers?: {
                /** @description Whether the caller may start the deployment in spite of it. Always false in streams and webhooks */
                can_override: boolean;
                /**
                 * @description What keeps the deployment from starting
                 * @enum {string}
                 */
                code: "start_time" | "approval" | "window" | "promotion" | "freeze" | "instance_pool" | "no_compatible_instance" | "tenant_limit" | "target_lock" | "capacity";
                /** @description What blocks. Only the members of the code are there */
                details: {
                    /** @description The environments that are outside of their windows; with `window` */
                    environments?: {
                        /**
                         * Format: uuid
                         * @description The environment, by UUID
                         */
                        environment_id: string;
                        /** @description Its name */
                        environment_name: string;
                    }[];
                    /**
                     * Format: date-time
                     * @description When the request ends without them; with `approval`
                     */
                    expires_at?: string;
                    /** @description The freezes, without those of other tenants; with `freeze` */
                    freezes?: {
                        /**
                         * Format: date-time
                         * @description When its present window ends
                         */
                        ends_at: string;
                        /**
                         * Format: uuid
                         * @description The freeze, by UUID
                         */
                        id: string;
                        /** @description Its name */
                        name: string;
                        /** @description The targets because of which it applies; absent if it covers the deployment itself */
                        target_ids?: string[];
                    }[];
                    /** @description The approvals so far; with `approval` */
                    given?: components["schemas"]["GivenApproval"][];
                    /** @description How many targets other deployments hold; with `target_lock` */
                    held_count?: number;
                    /** @description The targets that other deployments hold, at most 3, those held longest first; with `target_lock` */
                    held_targets?: {
                        /**
                         * Format: uuid
                         * @description The deployment that holds the target; absent if it is of another tenant
                         */
                        deployment_id?: string;
                        /**
                         * Format: date-time
                         * @description Since when that deployment holds the target
                         */
                        since: string;
                        /**
                         * Format: uuid
                         * @description The target, by UUID
                         */
                        target_id: string;
                        /** @description Its name */
                        target_name: string;
                    }[];
                    /** @description The instances that the deployment needs; with `instance_pool`, `no_compatible_instance` and `capacity` */
                    instances?: {
                        /** @description How many of those take runs: online, compatible and not draining */
                        accepting: number;
                        /** @description Instances that serve the tenant */
                        known: number;
                        /** @description How many of them have the labels */
                        matching: number;
                        /** @description The selector as text; `any` if every instance will do */
                        name: string;
                        /** @description The labels that it needs; null: every instance will do */
                        selector: components["schemas"]["InstanceSelector"] | null;
                        /** @description Slots of the instances that take runs */
                        slots: number;
                        /** @description How many of these slots are taken */
                        taken: number;
                    };
                    /** @description How many a tenant may run at once; with `tenant_limit` */
                    limit?: number;
                    /** @description What the version misses before it may go on; with `promotion` */
                    promotions?: components["schemas"]["MissingPromotion"][];
                    /** @description How many such targets there are; with `target_lock` */
                    reserved_count?: number;
                    /** @description Free targets for which an earlier request comes first, at most 3; with `target_lock` */
                    reserved_targets?: {
                        /**
                         * Format: uuid
                         * @description The target, by UUID
                         */
                        target_id: string;
                        /** @description Its name */
                        target_name: string;
                    }[];
                    /** @description The rules that miss approvals; with `approval` */
                    rules?: components["schemas"]["ApprovalRuleState"][];
                    /** @description How many deployments the tenant runs; with `tenant_limit` */
                    running?: number;
                    /**
                     * Format: date-time
                     * @description When it may start; with `start_time`
                     */
                    start_at?: string;
                };
                /** @description The same for people, with names and numbers */
                message: string;
                /** @description When it blocks no more; null: nobody can know */
                until: string | null;
            }[];
            /** @description Whether the caller may approve it. Absent unless it waits; always false in streams and webhooks */
            can_approve?: boolean;
            /**
             * @description Who or what cancelled it: a user, a newer request, an approver who rejected it, the end of the time for approvals, or `expires_at`
             * @enum {string}
             */
            cancelled_because?: "user" | "superseded" | "rejected" | "approval_expired" | "expired";
            /** @description When the request was created, in UTC */
            created_at: string;
            /**
             * Format: uuid
             * @description The deployment that it became; absent until it is dispatched
             */
            deployment_id?: string;
            /** @description When it was dispatched, in UTC */
            dispatched_at?: string;
            /**
             * Format: uuid
             * @description The instance that took the deployment, by UUID
             */
            dispatched_to_instance_id?: string;
            /** @description The latest `until` of the blockers; null if one of them has none. The present time if there is no blocker */
            earliest_start?: string | null;
            /**
             * Format: uuid
             * @description The environment that the request names; absent: none
             */
            environment_id?: string;
            /** @description Its name */
            environment_name?: string;
            /** @description Why dispatching it failed, which newer request replaced it, or who rejected it */
            error_message?: string;
            /** @description When it probably starts, from the usual length of runs; absent if that cannot be told, in UTC */
            estimated_start?: string;
            /**
             * Format: date-time
             * @description It starts before this moment or never; absent: at any time
             */
            expires_at?: string;
            /** @description The targets that other deployments hold, at most 3, those held longest first; with `target_lock` */
            held_targets?: {
                /**
                 * Format: uuid
                 * @description The deployment that holds the target; absent if it is of another tenant
                 */
                deployment_id?: string;
                /**
                 * Format: date-time
                 * @description Since when that deployment holds the target
                 */
                since: string;
                /**
                 * Format: uuid
                 * @description The target, by UUID
                 */
                target_id: string;
                /** @description Its name */
                target_name: string;
            }[];
            /**
             * Format: uuid
             * @description UUID of the request
             */
            id: string;
            /** @description The instances that the request needs. Absent if any instance will do */
            instance_pool?: components["schemas"]["InstancePool"];
            /** @description When dispatching it last failed; absent: never, in UTC */
            last_retry_at?: string;
            /** @description Stands for the plan that would run. Send it with an approval */
            plan_hash?: string;
            /** @description Place in the queue, from 1; absent unless the request waits in the queue: not for its start time, an approval or a window */
            position?: number;
            /** @description Priority in the queue, -100 to 100; a higher number starts first */
            priority: number;
            /** @description When the request was queued, in UTC */
            queued_at: string;
            /** @description How often dispatching it has failed */
            retry_count: number;
            /**
             * Format: uuid
             * @description What would be deployed, by UUID
             */
            source_id: string;
            /** @description Its name */
            source_name: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description The version that would be deployed */
            source_version: string;
            /**
             * Format: date-time
             * @description It starts no earlier; absent: at once
             */
            start_at?: string;
            /** @description Where the request stands: `pending` waits, `processing` is being dispatched; the others are final */
            status: components["schemas"]["PendingStatus"];
            /**
             * Format: uuid
             * @description The newer request of the same source that replaced it, or its deployment if that one started at once
             */
            superseded_by?: string;
            /** @description How many targets the plan has */
            target_count: number;
            /** @description The first targets of the plan, in its order, at most 5; target_count counts all */
            targets: {
                /**
                 * Format: uuid
                 * @description The record, by UUID
                 */
                id: string;
                /** @description Its name */
                name: string;
            }[];
            /**
             * Format: uuid
             * @description The tenant that the deployment is for; absent: none
             */
            tenant_id?: string;
            /** @description Its name */
            tenant_name?: string;
            /** @description The name of the user who created it, also by an API key */
            triggered_by?: string;
            /**
             * @description What the request waits for; absent unless it waits
             * @enum {string}
             */
            waiting_for?: "start_time" | "approval" | "window" | "promotion" | "freeze" | "instance_pool" | "no_compatible_instance" | "tenant_limit" | "target_lock" | "capacity";
            /** @description The same for people, with names and numbers */
            waiting_reason?: string;
        };
        /**
         * @description Where the request stands: `pending` waits, `processing` is being dispatched; the others are final
         * @enum {string}
         */
        PendingStatus: "pending" | "processing" | "dispatched" | "cancelled" | "failed";
        /** @description What runs where, in which order, with which values */
        PlanView: {
            /**
             * Format: date-time
             * @description When the plan was made
             */
            created_at: string;
            /** @description Name of the environment; null: none */
            environment_name: string | null;
            /** @description Values that hold for all targets; sensitive ones are `***`. Targets may have values of their own */
            resolved_variables: components["schemas"]["Variables"];
            /** @description The steps, by target and then in the order of execution */
            steps: components["schemas"]["Step"][];
            /** @description How many targets the plan has */
            target_count: number;
            /** @description Name of the tenant; null: none */
            tenant_name: string | null;
            /** @description The versions of the source and of everything that it is made of */
            versions: {
                /**
                 * Format: uuid
                 * @description The source or a part of it, by UUID
                 */
                id: string;
                /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
                kind: components["schemas"]["SourceType"];
                /** @description Its name when the deployment was planned */
                name: string;
                /** @description Its version. If the plan has several versions of a part, each is an entry */
                version: string;
            }[];
        };
        Preview: {
            /** @description All reasons that keep it from starting, one for each code, in the order start_time, approval, window, promotion, freeze, instance_pool, no_compatible_instance, tenant_limit, target_lock, capacity. Empty: it can start */
            blockers: {
                /** @description Whether the caller may start the deployment in spite of it. Always false in streams and webhooks */
                can_override: boolean;
                /**
                 * @description What keeps the deployment from starting
                 * @enum {string}
                 */
                code: "start_time" | "approval" | "window" | "promotion" | "freeze" | "instance_pool" | "no_compatible_instance" | "tenant_limit" | "target_lock" | "capacity";
                /** @description What blocks. Only the members of the code are there */
                details: {
                    /** @description The environments that are outside of their windows; with `window` */
                    environments?: {
                        /**
                         * Format: uuid
                         * @description The environment, by UUID
                         */
                        environment_id: string;
                        /** @description Its name */
                        environment_name: string;
                    }[];
                    /**
                     * Format: date-time
                     * @description When the request ends without them; with `approval`
                     */
                    expires_at?: string;
                    /** @description The freezes, without those of other tenants; with `freeze` */
                    freezes?: {
                        /**
                         * Format: date-time
                         * @description When its present window ends
                         */
                        ends_at: string;
                        /**
                         * Format: uuid
                         * @description The freeze, by UUID
                         */
                        id: string;
                        /** @description Its name */
                        name: string;
                        /** @description The targets because of which it applies; absent if it covers the deployment itself */
                        target_ids?: string[];
                    }[];
                    /** @description The approvals so far; with `approval` */
                    given?: components["schemas"]["GivenApproval"][];
                    /** @description How many targets other deployments hold; with `target_lock` */
                    held_count?: number;
                    /** @description The targets that other deployments hold, at most 3, those held longest first; with `target_lock` */
                    held_targets?: {
                        /**
                         * Format: uuid
                         * @description The deployment that holds the target; absent if it is of another tenant
                         */
                        deployment_id?: string;
                        /**
                         * Format: date-time
                         * @description Since when that deployment holds the target
                         */
                        since: string;
                        /**
                         * Format: uuid
                         * @description The target, by UUID
                         */
                        target_id: string;
                        /** @description Its name */
                        target_name: string;
                    }[];
                    /** @description The instances that the deployment needs; with `instance_pool`, `no_compatible_instance` and `capacity` */
                    instances?: {
                        /** @description How many of those take runs: online, compatible and not draining */
                        accepting: number;
                        /** @description Instances that serve the tenant */
                        known: number;
                        /** @description How many of them have the labels */
                        matching: number;
                        /** @description The selector as text; `any` if every instance will do */
                        name: string;
                        /** @description The labels that it needs; null: every instance will do */
                        selector: components["schemas"]["InstanceSelector"] | null;
                        /** @description Slots of the instances that take runs */
                        slots: number;
                        /** @description How many of these slots are taken */
                        taken: number;
                    };
                    /** @description How many a tenant may run at once; with `tenant_limit` */
                    limit?: number;
                    /** @description What the version misses before it may go on; with `promotion` */
                    promotions?: components["schemas"]["MissingPromotion"][];
                    /** @description How many such targets there are; with `target_lock` */
                    reserved_count?: number;
                    /** @description Free targets for which an earlier request comes first, at most 3; with `target_lock` */
                    reserved_targets?: {
                        /**
                         * Format: uuid
                         * @description The target, by UUID
                         */
                        target_id: string;
                        /** @description Its name */
                        target_name: string;
                    }[];
                    /** @description The rules that miss approvals; with `approval` */
                    rules?: components["schemas"]["ApprovalRuleState"][];
                    /** @description How many deployments the tenant runs; with `tenant_limit` */
                    running?: number;
                    /**
                     * Format: date-time
                     * @description When it may start; with `start_time`
                     */
                    start_at?: string;
                };
                /** @description The same for people, with names and numbers */
                message: string;
                /** @description When it blocks no more; null: nobody can know */
                until: string | null;
            }[];
            /** @description The latest `until` of the blockers; null if one of them has none. The present time if there is no blocker */
            earliest_start: string | null;
            /** @description What runs where, in which order, with which values */
            plan: components["schemas"]["PlanView"];
            /** @description The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences lists the parts that differ. A preview and dry_run ignore it. */
            plan_hash: string;
            /** @description Its place in the queue */
            queue: {
                /** @description Waiting requests that would start before it and compete with it, for its targets or for slots of the same instances. 0 if it would start at once, or not wait in the queue */
                ahead: number;
            };
            /** @description What is in force now on the targets of the plan */
            replaces: components["schemas"]["Replacement"][];
            /** @description Name of the source */
            source_name: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description The version that would be deployed */
            source_version: string;
            /** @description The targets by status and environment */
            target_summary: {
                /** @description The targets by their environment: the one with the most first */
                environments: {
                    /** @description Targets in it */
                    count: number;
                    /** @description The environment; null: the targets have none */
                    id: string | null;
                    /** @description Its name */
                    name: string | null;
                }[];
                /** @description Those that are offline */
                offline: number;
                /** @description Those that are online */
                online: number;
                /** @description Those that are stale */
                stale: number;
                /** @description Targets of the plan */
                total: number;
            };
            /** @description Targets with the same versions and values in force; only_changed leaves them out */
            unchanged_targets: {
                /**
                 * Format: uuid
                 * @description The record, by UUID
                 */
                id: string;
                /** @description Its name */
                name: string;
            }[];
            /** @description Values that hold for all targets; sensitive ones are `***` */
            variables: components["schemas"]["Variables"];
            /** @description The warnings of a create, and a sentence for each blocker */
            warnings: string[];
        };
        Promotion: {
            /** @description Why it may not go on now, in sentences. Empty: it may */
            blockers: string[];
            /** @description A deployment that put it in force there, for versions_of; null: there is no such version */
            deployment_id: string | null;
            /** @description When it may go on to the second environment; null: it may not, or at any time */
            ready_at: string | null;
            /** @description Since when it is in force on all its targets; null: there is no such version */
            since: string | null;
            /** @description The targets of the second environment on which the source is in force, by UUID */
            target_ids: string[];
            /** @description The version in force in the first environment; null: there is none, or there are several */
            version: string | null;
        };
        PublishedSource: {
            /**
             * Format: date-time
             * @description When the record was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /**
             * Format: uuid
             * @description UUID of the record. It never changes
             */
            id: string;
            /** @description The highest version that is no pre-release; null: there is none */
            latest_version: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by: string | null;
            /** @description Name, unique among the records of this kind that belong to the same tenant, or to none */
            name: string;
            /** @description Short id of the record. Paths and bodies accept it wherever they accept the UUID */
            sqid: string;
            /** @description The tenant that owns the record; null: the record belongs to no tenant */
            tenant_id: string | null;
            /**
             * Format: date-time
             * @description When the record was last changed
             */
            updated_at: string;
            /** @description All published versions, the newest first */
            versions: components["schemas"]["SourceVersionListItem"][];
            /** @description What people should know about the scripts: what was changed in them, what cannot be read, which values another program evaluates */
            warnings: string[];
        };
        PublishedVersion: {
            /**
             * Format: date-time
             * @description When the version was published
             */
            created_at: string;
            /** @description The definition as it was published: an ActionDefinition, SequenceDefinition or SolutionDefinition. Sensitive values are `***` */
            definition: unknown;
            /** @description The semantic version */
            version: string;
            /** @description What people should know about the scripts: what was changed in them, what cannot be read, which values another program evaluates */
            warnings: string[];
        };
        /** @description Fields that are omitted keep the value of the earlier deployment. bypass_cache, override_freeze, only_changed, strict and dry_run are false when omitted. */
        RedeployDeployment: {
            /** @description Whether instances download all files again instead of using those that they keep; false when omitted */
            bypass_cache?: boolean;
            /** @description Answers 200 with the preview, and creates nothing */
            dry_run?: boolean;
            /**
             * Format: id-environment
             * @description The environment, by UUID or SqId. It gives variables to all targets, and they must be of it, or of no environment. If it is omitted, each target gets the variables of its own environment
             */
            environment_id?: string;
            /** @description The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences lists the parts that differ. A preview and dry_run ignore it. */
            expected_plan_hash?: string;
            /**
             * Format: date-time
             * @description If it has not started by then, it ends as cancelled. After start_at, and in the future
             */
            expires_at?: string;
            /** @description What a failed command stops: `stop_on_first_failure` (the default) starts nothing more anywhere, while commands that run finish; `continue_on_failure` skips the rest of that target only; `ignore_failures` goes on everywhere, and the deployment ends with success if any step completed */
            failure_strategy?: components["schemas"]["FailureStrategy"];
            /** @description How often a failed command is retried. When omitted, the number of each action */
            max_retries?: number;
            /** @description Leaves out targets on which the same versions and values are in force and nothing was attempted since. The answer lists them as unchanged_target_ids, in config of a deployment. If no target is left, nothing starts: 200 with deployment_id null. A preview is then 409 CONFLICT with details.unchanged_target_ids. */
            only_changed?: boolean;
            /** @description Only targets with steps that are not completed: failed, skipped, cancelled or rolled back. Together with target_ids or target_tags, and if there is no such target, the answer is 400 */
            only_failed_targets?: boolean;
            /** @description Whether to deploy in spite of a freeze; false when omitted. The user of the credential needs the role admin, and an API key with scopes also deployments:override (403 otherwise, also without a freeze). Give override_reason. An admin of a tenant overrides only freezes of that tenant */
            override_freeze?: boolean;
            /** @description Why freezes or rules are overridden; the audit record has it */
            override_reason?: string;
            /** @description Whether to deploy in spite of the rules of environments; false when omitted. It needs what override_freeze needs, and override_reason. An admin of a tenant overrides only rules of environments of that tenant */
            override_rules?: boolean;
            /** @description Priority in the queue, -100 to 100; a higher number starts first */
            priority?: number;
            /** @description Values of prompted variables, by name or by id of the definition. They go before `variables` */
            prompted_values?: {
                [key: string]: unknown;
            };
            /** @description Whose rollback scripts run after a failure: `none` (the default); `failed_target_only`, of the targets on which a step failed; `all_executed`, of every target with executed steps */
            rollback_strategy?: components["schemas"]["RollbackStrategy"];
            /**
             * Format: date-time
             * @description It starts no earlier: it waits until then. A moment in the past is now. A redeploy does not repeat it
             */
            start_at?: string;
            /** @description Refuses the request if it would get one of these warnings: templates without a value, variables that nothing uses, offline targets, targets in more than one environment. details.warnings lists them. Freezes, capacity and stale targets do not count. */
            strict?: boolean;
            /** @description Targets by id. They run in this order, before those that tags select. A disabled target, or one of another environment, is 400 */
            target_ids?: string[];
            /** @description `sequential`: one target after the other (the default); `parallel`: all at once; `rolling`: batches of `batch_size` targets, and a batch begins when all targets of the one before have ended */
            target_mode?: components["schemas"]["TargetMode"];
            /** @description Targets by tag: those with any of the tags, by name, without disabled ones and those of another environment. target_tags_match_all asks for all of the tags. If no target has the tags, the answer is 400 */
            target_tags?: components["schemas"]["Tag"][];
            /** @description Seconds until an attempt of a command is killed. When omitted, that of each action */
            timeout_seconds?: number;
            /** @description Values by name, for all steps. They go before those of all records */
            variables?: components["schemas"]["Variables"];
        };
        RedeployStarted: {
            /** @description The deployed action; null for other sources */
            action_id: string | null;
            /** @description Its name */
            action_name: string | null;
            /** @description The deployed version of it */
            action_version: string | null;
            /** @description Whether failed commands are analysed */
            analysis_enabled: boolean;
            /** @description The name of the API key with which it was asked for; null: a person asked */
            api_key_name: string | null;
            /** @description The users who approved it before it started, by rules of its environments; empty if nobody had to */
            approved_by: components["schemas"]["GivenApproval"][];
            /** @description The reason that the user gave; null: none */
            cancel_reason: string | null;
            /** @description When it was cancelled; null: it was not */
            cancelled_at: string | null;
            /** @description The name of the user who cancelled it; null: nobody did */
            cancelled_by: string | null;
            /** @description When it ended; null: not yet */
            completed_at: string | null;
            /** @description Steps whose command succeeded */
            completed_steps: number;
            /** @description What was asked for, with the defaults filled in */
            config: components["schemas"]["DeploymentConfig"];
            /**
             * Format: date-time
             * @description When it was created
             */
            created_at: string;
            /** @description Milliseconds from started_at to completed_at; null: not ended */
            duration_ms: number | null;
            /** @description The environment that the deployment names; null: none */
            environment_id: string | null;
            /** @description Its name */
            environment_name: string | null;
            /** @description Why the deployment failed, also after its rollback; null: it did not */
            error_message: string | null;
            /** @description Steps whose command failed after all its attempts */
            failed_steps: number;
            /**
             * Format: uuid
             * @description UUID of the deployment
             */
            id: string;
            /** @description The plan with the states of its steps; null in the answers of a cancel and a redeploy */
            plan: components["schemas"]["PlanView"] | null;
            /** @description The versions of the source that it replaced, the most frequent first, by the first 25 targets that it reached */
            previous_versions: string[];
            /** @description Share of the steps that have ended. It never falls */
            progress: number;
            /** @description The deployed sequence; null for other sources */
            sequence_id: string | null;
            /** @description Its name */
            sequence_name: string | null;
            /** @description The deployed version of it */
            sequence_version: string | null;
            /** @description The deployed solution; null for other sources */
            solution_id: string | null;
            /** @description Its name */
            solution_name: string | null;
            /** @description The deployed version of it */
            solution_version: string | null;
            /**
             * Format: uuid
             * @description The deployment that was redeployed; absent if this is no redeploy
             */
            source_deployment_id?: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description When it got a slot of an instance */
            started_at: string | null;
            /** @description Where the deployment stands. `success`, `failed`, `cancelled` and `rolled_back` are final and never change. No deployment is shown as `pending` or `queued`: before its start there is a pending request */
            state: components["schemas"]["DeploymentState"];
            /** @description Targets of the plan */
            target_count: number;
            /** @description The tenant that the deployment is for; null: none */
            tenant_id: string | null;
            /** @description Its name */
            tenant_name: string | null;
            /** @description Steps of the plan: targets times actions */
            total_steps: number;
            /** @description The name of the user who created it, also by an API key */
            triggered_by: string | null;
            /** @description Templates without a value, variables that nothing uses, offline and stale targets, active freezes */
            warnings: string[];
        };
        RefreshSseToken: {
            /** @description The refresh token of the last answer */
            refresh_token: string;
            /**
             * Format: uuid
             * @description The stream session, from the answer with the last token
             */
            session_id: string;
        };
        Reject: {
            /** @description For people; the audit record has it */
            comment?: string;
        };
        Release: {
            /**
             * Format: date-time
             * @description When its first command on the target started
             */
            begun_at: string;
            /** @description What checks found. Null if nothing is in force on the target, or none of its actions declares a check */
            check: components["schemas"]["ReleaseCheck"] | null;
            /**
             * Format: uuid
             * @description The deployment, by UUID. Retention may have deleted it
             */
            deployment_id: string;
            /** @description When it had nothing left to do on the target; null: not yet */
            ended_at: string | null;
            /** @description Whether this version is in force on the target now */
            is_current: boolean;
            /** @description The earlier deployment that this one repeats, with the same versions, variables and environment in its request, if it was applied on the target. So this one is a way back to it. Null: none */
            repeats_deployment_id: string | null;
            /** @description The deployment that was in force on the target when this one began; null: none was */
            replaced_deployment_id: string | null;
            /**
             * Format: uuid
             * @description The source, by UUID
             */
            source_id: string;
            /** @description Its name */
            source_name: string;
            /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
            source_type: components["schemas"]["SourceType"];
            /** @description What became of a deployment on one target. It is applied when all its commands on the target have succeeded there, or, where failures are ignored, have been executed. It has drifted if a check found the version in force changed. */
            state: components["schemas"]["ShownReleaseState"];
            /** @description The name of the user who created the deployment */
            triggered_by: string | null;
            /** @description Equal for equal versions of all actions and equal values of all variables on the target, layer by layer. */
            values_hash: string | null;
            /** @description Equal for equal versions of the source and of everything that it is made of. Null for a single action */
            variant: string | null;
            /** @description The version that it deployed */
            version: string;
        };
        ReleaseCheck: {
            /** @description When the last check ended; null: none has ended */
            checked_at: string | null;
            /** @description When a check first found the target drifted. A check that could not be done does not end it */
            drifted_since: string | null;
            /** @description Whether a check runs or was asked for */
            is_pending: boolean;
            /** @description Where the target is not in sync: the end of what the check wrote */
            message: string | null;
            /** @description When the next check is due; null: on request only, or as soon as possible */
            next_at: string | null;
            /** @description Of the last check. `unknown`: the check could not be done. Null before the first check */
            result: ("in_sync" | "drifted" | "unknown") | null;
        };
        Replacement: {
            /** @description When it was applied */
            applied_at: string | null;
            /** @description The name of the user who created it */
            applied_by: string | null;
            /** @description The deployment in force there; null: nothing is */
            deployment_id: string | null;
            /** @description Null: nothing is in force there, retention has deleted that deployment, or 20 others are in force on more targets */
            difference: {
                /** @description Values that differ, without those of targets; sensitive ones are masked */
                variables: {
                    /** @description The value after. Absent: it has no value */
                    after?: unknown;
                    /** @description The value before. Absent: it had no value */
                    before?: unknown;
                    /** @description Name of the variable */
                    name: string;
                }[];
                /** @description The source and everything that it is made of, where the version differs */
                versions: {
                    /** @description The version after. Null: not part of this deployment */
                    after: string | null;
                    /** @description The version before. Null: not part of the deployment before */
                    before: string | null;
                    /**
                     * Format: uuid
                     * @description The source or a part of it, by UUID
                     */
                    id: string;
                    /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
                    kind: components["schemas"]["SourceType"];
                    /** @description Its name */
                    name: string;
                }[];
            } | null;
            /** @description How many targets have it in force */
            target_count: number;
            /** @description The first 100 of them */
            targets: {
                /**
                 * Format: uuid
                 * @description The record, by UUID
                 */
                id: string;
                /** @description Its name */
                name: string;
            }[];
            /** @description Those of them with the same versions and values */
            unchanged_count: number;
            /** @description Its version; null: nothing is in force */
            version: string | null;
        };
        Replacements: {
            /** @description What was in force before, one entry for each deployment */
            replaces: components["schemas"]["Replacement"][];
        };
        Right: {
            /** @description Whether the caller may do it */
            allowed: boolean;
            /** @description Why, for people */
            because: string;
        };
        Role: {
            /** @description Whether the role belongs to every installation and cannot be changed */
            built_in: boolean;
            /**
             * Format: date-time
             * @description When the role was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /**
             * Format: uuid
             * @description UUID of the role
             */
            id: string;
            /** @description Unique name */
            name: string;
            /** @description What users with the role may do */
            permissions: string[];
            /**
             * Format: date-time
             * @description When the role was last changed
             */
            updated_at: string;
        };
        RoleBinding: {
            /** @description The role lets the user act only in these environments; null: in all */
            environment_ids: string[] | null;
            /** @description Name of the role */
            role: string;
            /** @description The role lets the user act only for these solutions; null: for every source */
            solution_ids: string[] | null;
        };
        Rollback: {
            /** @description The targets by the release before the present one, the largest group first */
            groups: {
                /** @description The deployment to repeat with redeployDeployment and these target_ids; null: there is no release before */
                deployment_id: string | null;
                /** @description The targets that go back to it */
                targets: {
                    /**
                     * Format: uuid
                     * @description The record, by UUID
                     */
                    id: string;
                    /** @description Its name */
                    name: string;
                }[];
                /** @description Its version; null: there is none, or it is too old to be known */
                version: string | null;
            }[];
            /** @description Deployments of the source that run on these targets: end them first */
            running: {
                /**
                 * Format: uuid
                 * @description The deployment
                 */
                deployment_id: string;
                /**
                 * Format: uuid
                 * @description The target, by UUID
                 */
                target_id: string;
                /** @description Its name */
                target_name: string;
            }[];
        };
        /**
         * @description Whose rollback scripts run after a failure: `none` (the default); `failed_target_only`, of the targets on which a step failed; `all_executed`, of every target with executed steps
         * @enum {string}
         */
        RollbackStrategy: "none" | "failed_target_only" | "all_executed";
        /** @description An ordered list of actions */
        SequenceDefinition: {
            /** @description The actions in the order in which they run on each target */
            actions: {
                /**
                 * Format: id-action
                 * @description The action, by UUID or SqId
                 */
                action_id: string;
                /** @description Values for this entry. They override the defaults of the definitions */
                variables?: components["schemas"]["Variables"];
                /**
                 * Format: version-requirement
                 * @description An npm version range of the action. The highest version in the range counts; when omitted, the highest that is no pre-release. A deployment resolves the range when it is planned
                 */
                version_requirement?: string;
            }[];
            /** @description The variables that a deployment of this version needs or accepts */
            variables?: components["schemas"]["VariableDefinition"][];
        };
        Session: {
            /** @description The client address of the login; null: not known */
            client_ip: string | null;
            /**
             * Format: date-time
             * @description When the login was
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The session ends then unless it is refreshed before
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description UUID of the session
             */
            id: string;
            /** @description Whether this call is made in it */
            is_current: boolean;
            /** @description Of the login or the last refresh */
            last_used_at: string | null;
            /** @description What the client calls itself */
            user_agent: string | null;
        };
        Sessions: {
            /** @description The sessions, the last used first */
            sessions: components["schemas"]["Session"][];
        };
        /**
         * @description The state of the last attempt; `drifted` if a check found the version in force changed and no attempt runs
         * @enum {string}
         */
        ShownReleaseState: "running" | "applied" | "failed" | "cancelled" | "rolling_back" | "rolled_back" | "rollback_failed" | "drifted";
        /** @description Executes nothing and answers as this connection says. Target, action and attempt decide which commands fail, so a repeated deployment has the same result. Rollback scripts succeed unless the connection is lost. */
        SimulatedConnection: {
            /**
             * @description Share of the commands and rollback scripts during which the connection to the target is lost: 0 is none, 1 is all
             * @default 0
             */
            drop_rate?: number;
            /**
             * @description How long each command takes, in milliseconds
             * @default 0
             */
            duration_ms?: number;
            /**
             * @description Exit code of every command or, with failure_rate, of the commands that fail (then 0 counts as 1)
             * @default 0
             */
            exit_code?: number;
            /** @description Share of the commands that fail: 0 is none, 1 is all. When omitted, exit_code alone decides */
            failure_rate?: number;
            /**
             * @description Lines that each command writes
             * @default 1
             */
            output_lines?: number;
            /**
             * @description Nothing is executed
             * @constant
             */
            type: "simulated";
        };
        /** @description An ordered list of sequences */
        SolutionDefinition: {
            /** @description The sequences in the order in which they run on each target */
            sequences: {
                /**
                 * Format: id-sequence
                 * @description The sequence, by UUID or SqId
                 */
                sequence_id: string;
                /** @description Values for this entry. They override the defaults of the definitions */
                variables?: components["schemas"]["Variables"];
                /**
                 * Format: version-requirement
                 * @description An npm version range of the sequence. The highest version in the range counts; when omitted, the highest that is no pre-release. A deployment resolves the range when it is planned
                 */
                version_requirement?: string;
            }[];
            /** @description The variables that a deployment of this version needs or accepts */
            variables?: components["schemas"]["VariableDefinition"][];
        };
        Source: {
            /**
             * Format: date-time
             * @description When the record was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /**
             * Format: uuid
             * @description UUID of the record. It never changes
             */
            id: string;
            /** @description The highest version that is no pre-release; null: there is none */
            latest_version: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by: string | null;
            /** @description Name, unique among the records of this kind that belong to the same tenant, or to none */
            name: string;
            /** @description Short id of the record. Paths and bodies accept it wherever they accept the UUID */
            sqid: string;
            /** @description The tenant that owns the record; null: the record belongs to no tenant */
            tenant_id: string | null;
            /**
             * Format: date-time
             * @description When the record was last changed
             */
            updated_at: string;
            /** @description All published versions, the newest first */
            versions: components["schemas"]["SourceVersionListItem"][];
        };
        SourceListItem: {
            /**
             * Format: date-time
             * @description When the record was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /**
             * Format: uuid
             * @description UUID of the record. It never changes
             */
            id: string;
            /** @description The highest version that is no pre-release; null: there is none */
            latest_version: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by: string | null;
            /** @description Name, unique among the records of this kind that belong to the same tenant, or to none */
            name: string;
            /** @description Short id of the record. Paths and bodies accept it wherever they accept the UUID */
            sqid: string;
            /** @description The tenant that owns the record; null: the record belongs to no tenant */
            tenant_id: string | null;
            /**
             * Format: date-time
             * @description When the record was last changed
             */
            updated_at: string;
        };
        /**
         * @description The kind of the source: a solution (sequences), a sequence (actions) or a single action
         * @enum {string}
         */
        SourceType: "solution" | "sequence" | "action";
        SourceVersion: {
            /**
             * Format: date-time
             * @description When the version was published
             */
            created_at: string;
            /** @description The definition as it was published: an ActionDefinition, SequenceDefinition or SolutionDefinition. Sensitive values are `***` */
            definition: unknown;
            /** @description The semantic version */
            version: string;
        };
        SourceVersionListItem: {
            /**
             * Format: date-time
             * @description When the version was published
             */
            created_at: string;
            /** @description The semantic version */
            version: string;
        };
        SseTokenResponse: {
            /** @description Seconds in which the token can be used */
            expires_in: number;
            /** @description Gets the next tokens of this stream session. It can be used once */
            refresh_token: string;
            /**
             * Format: uuid
             * @description The stream session, for POST /api/v1/auth/sse-token/refresh
             */
            session_id: string;
            /** @description Opens one stream, as the parameter `sse_token` */
            sse_token: string;
        };
        /** @description Commands run on a host over SSH. Private key and password are never shown */
        SshConnection: {
            /** @description Host name or IP address, as the orchestration instance reaches it */
            host: string;
            /** @description The key that the host must have: a public key, a line of `known_hosts`, or a `SHA256:` fingerprint. When omitted, the first connection pins the key */
            host_key?: string;
            /**
             * @description TCP port
             * @default 22
             */
            port?: number;
            /**
             * @description Commands run on a host over SSH
             * @constant
             */
            type: "ssh";
            /** @description The user as whom the connection logs in and commands run */
            username: string;
        };
        /** @description Commands run on a host over SSH, with a private key, a password, or neither if the host asks for none */
        SshConnectionInput: {
            /** @description Host name or IP address, as the orchestration instance reaches it */
            host: string;
            /** @description The key that the host must have: a public key, a line of `known_hosts`, or a `SHA256:` fingerprint. When omitted, the first connection pins the key */
            host_key?: string;
            /** @description Password for a host that accepts no key. It is sealed and never shown */
            password?: string;
            /**
             * @description TCP port
             * @default 22
             */
            port?: number;
            /** @description Private key as ssh-keygen or OpenSSL writes it (OpenSSH, PEM or PKCS#8), without passphrase; another text is refused with the reason. It is sealed and never shown */
            private_key?: string;
            /**
             * @description Commands run on a host over SSH
             * @constant
             */
            type: "ssh";
            /** @description The user as whom the connection logs in and commands run */
            username: string;
        };
        /** @description One action on one target, in one deployment */
        Step: {
            /**
             * Format: uuid
             * @description The action, by UUID
             */
            action_id: string;
            /** @description Its name when the deployment was planned */
            action_name: string;
            /** @description Place of the action in its sequence, from 0 */
            action_order: number;
            /** @description The version of the action in the plan */
            action_version: string;
            /** @description When it ended; null: not yet */
            completed_at: string | null;
            /** @description Milliseconds from started_at to completed_at; null: not ended */
            duration_ms: number | null;
            /** @description Whether a command that was killed with its deployment is known to have ended; null for other steps */
            end_confirmed: boolean | null;
            /** @description Why the last attempt failed or was cancelled; null: it was not */
            error_message: string | null;
            /** @description Exit code of the last attempt; null: it has none, as a killed one */
            exit_code: number | null;
            /**
             * Format: uuid
             * @description UUID of the step, computed from the deployment and its place
             */
            id: string;
            /** @description How often the command was retried */
            retry_count: number;
            /**
             * Format: uuid
             * @description The sequence that the action belongs to. For an action alone, the action
             */
            sequence_id: string;
            /** @description Its name when the deployment was planned */
            sequence_name: string;
            /** @description Place of the sequence in the plan, from 0 */
            sequence_order: number;
            /** @description The version of the sequence in the plan */
            sequence_version: string;
            /** @description When its first attempt started; null: not yet */
            started_at: string | null;
            /**
             * @description Where the step stands. `skipped`: it never started, because of a failure or the timeout of the deployment
             * @enum {string}
             */
            state: "pending" | "running" | "completed" | "failed" | "cancelled" | "skipped" | "rolling_back" | "rolled_back" | "rollback_failed";
            /**
             * Format: uuid
             * @description The target, by UUID
             */
            target_id: string;
            /** @description Its name when the deployment was planned */
            target_name: string;
        };
        /** @description A key with a value on a target. Deployments select targets by tags */
        Tag: {
            /** @description Key of the tag */
            key: string;
            /** @description Value of the tag; may be empty */
            value: string;
        };
        TagRecord: {
            /** @description Key of the tag */
            key: string;
            /** @description How many targets have it */
            target_count: number;
            /** @description Value of the tag */
            value: string;
        };
        Target: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency: ("allow" | "queue" | "reject" | "supersede") | null;
            /** @description How commands reach the target, without secrets */
            connection: components["schemas"]["Connection"];
            /**
             * Format: date-time
             * @description When the record was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /** @description Whether deployments may use the target */
            enabled: boolean;
            /** @description The environment that the target belongs to; null: none */
            environment_id: string | null;
            /**
             * Format: uuid
             * @description UUID of the record. It never changes
             */
            id: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector: null | components["schemas"]["InstanceSelector"];
            /** @description Why the last attempt to reach the target failed, or why it is not online; null if it was reached */
            last_error: string | null;
            /** @description When a command, a probe or the agent last proved that the target can be reached; for local and simulated targets, the last heartbeat of an instance. Null: never */
            last_seen_at: string | null;
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by: string | null;
            /** @description Name, unique among the records of this kind that belong to the same tenant, or to none */
            name: string;
            /** @description Names of the variables with values that are never shown */
            sensitive_variables: string[];
            /** @description Short id of the record. Paths and bodies accept it wherever they accept the UUID */
            sqid: string;
            /** @description online: seen in the last 90 seconds; stale: in the last 10 minutes; offline: not for longer, or never. Local and simulated targets are online while an instance is */
            status: components["schemas"]["TargetStatus"];
            /** @description Tags, by which deployments select the target */
            tags: components["schemas"]["Tag"][];
            /** @description The tenant that owns the record; null: the record belongs to no tenant */
            tenant_id: string | null;
            /** @description When the first attempt failed since the last contact; without an attempt, the last contact. Null if the target was reached, or never tried */
            unreachable_since: string | null;
            /**
             * Format: date-time
             * @description When the record was last changed
             */
            updated_at: string;
            /** @description Values by name; `***` for those of sensitive_variables */
            variables: components["schemas"]["Variables"];
        };
        TargetAgent: {
            /**
             * Format: uuid
             * @description The agent, by UUID. Each enrolment makes a new one
             */
            agent_id: string;
            /**
             * Format: date-time
             * @description When the agent enrolled
             */
            enrolled_at: string;
            /** @description Where orchestration instances reach the agent: host name or IP address */
            host: string;
            /** @description When its last heartbeat, or a command, proved that it can be reached; null: never */
            last_seen_at: string | null;
            /** @description Its TCP port */
            port: number;
            /** @description The version of Slipway that the agent runs */
            version: string;
        };
        /** @description `sequential`: one target after the other (the default); `parallel`: all at once; `rolling`: batches of `batch_size` targets, and a batch begins when all targets of the one before have ended */
        TargetMode: ("sequential" | "parallel") | {
            /** @description Rolling deployment: a part of the targets at a time */
            rolling: {
                /** @description Targets in a batch; the deployment works on them at the same time */
                batch_size: number;
            };
        };
        /**
         * @description online: seen in the last 90 seconds; stale: in the last 10 minutes; offline: not for longer, or never. Local and simulated targets are online while an instance is
         * @enum {string}
         */
        TargetStatus: "online" | "stale" | "offline";
        Tenant: {
            /**
             * Format: date-time
             * @description When the record was created
             */
            created_at: string;
            /** @description Free text for people */
            description: string | null;
            /**
             * Format: uuid
             * @description UUID of the record. It never changes
             */
            id: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector: null | components["schemas"]["InstanceSelector"];
            /** @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission. */
            managed_by: string | null;
            /** @description Name, unique among the records of this kind that belong to the same tenant, or to none */
            name: string;
            /** @description Names of the variables with values that are never shown */
            sensitive_variables: string[];
            /** @description Short name of lower-case letters, digits and hyphens, unique among tenants */
            slug: string;
            /** @description Short id of the record. Paths and bodies accept it wherever they accept the UUID */
            sqid: string;
            /**
             * Format: date-time
             * @description When the record was last changed
             */
            updated_at: string;
            /** @description Values by name; `***` for those of sensitive_variables */
            variables: components["schemas"]["Variables"];
        };
        Trust: {
            /** @description The claim `aud` of the tokens, or one entry of it */
            audience: string;
            /** @description Claims that a token must have, with their values. A value that ends in `*` matches every text with that beginning. All must match; a claim that is no text never matches. Name at least one claim besides `iss` and `aud` */
            claims: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the trust was created
             */
            created_at: string;
            /** @description The user who created the trust; null: not known */
            created_by: string | null;
            /**
             * Format: uuid
             * @description UUID of the trust
             */
            id: string;
            /** @description Issuer of the tokens, exactly as in their claim `iss`. It begins with https:// */
            issuer: string;
            /**
             * Format: name
             * @description Name of the trust, unique in its account
             */
            name: string;
        };
        Trusts: {
            /** @description The trusts, the oldest first */
            trusts: components["schemas"]["Trust"][];
        };
        TwoFactorCode: {
            /** @description Six digits of the authenticator, or an unused recovery code */
            code: string;
        };
        TwoFactorEnabled: {
            /** @description What was done, for people */
            message: string;
            /** @description Each replaces a code once, for a login without the authenticator. They are not shown again */
            recovery_codes: string[];
        };
        TwoFactorRequired: {
            /** @description Send it with the code to POST /api/v1/auth/2fa/verify */
            pending_token: string;
            /**
             * @description The login is not complete: a second factor is needed
             * @constant
             */
            requires_2fa: true;
        };
        TwoFactorSetup: {
            /** @description The same as a URL, for a QR code */
            otpauth_url: string;
            /** @description The secret for the authenticator, in base32 */
            secret: string;
        };
        Unstarted: components["schemas"]["Preview"] | components["schemas"]["NothingToDeploy"];
        UpdatePending: {
            /** @description Priority in the queue, -100 to 100; a higher number starts first */
            priority: number;
        };
        User: {
            /**
             * Format: date-time
             * @description When the user was created
             */
            created_at: string;
            /** @description Full name for people */
            display_name: string | null;
            /** @description E-mail address, with which the user logs in; null for a service account */
            email: string | null;
            /**
             * Format: uuid
             * @description UUID of the user
             */
            id: string;
            /** @description Who the user is at the provider with which the user logs in; null: the user logs in with a password, or never */
            identity: components["schemas"]["Identity"] | null;
            /**
             * @description `service`: an account of a pipeline, without e-mail, password and login
             * @enum {string}
             */
            kind: "person" | "service";
            /** @description The permissions that the user has without a scope. GET /auth/can tells the others */
            permissions: string[];
            /** @description The roles with a scope. Each gives all its permissions to read, and within its scope those to deploy, cancel and approve, and to change freezes and targets */
            role_bindings: components["schemas"]["RoleBinding"][];
            /** @description Names of the roles without a scope */
            roles: string[];
            /** @description `active`, `inactive` or `suspended`. Only active users can do anything */
            status: string;
            /** @description Unique name, shown wherever the user did something */
            username: string;
        };
        UserRecord: {
            /** @description Whether the user may log in by password although password login is switched off */
            break_glass: boolean;
            /**
             * Format: date-time
             * @description When the user was created
             */
            created_at: string;
            /** @description Full name for people */
            display_name: string | null;
            /** @description E-mail address, with which the user logs in; null for a service account */
            email: string | null;
            /** @description Whether the e-mail address belongs to the user */
            email_verified: boolean;
            /**
             * Format: uuid
             * @description UUID of the user
             */
            id: string;
            /** @description Who the user is at the provider with which the user logs in; null: the user logs in with a password, or never */
            identity: components["schemas"]["Identity"] | null;
            /**
             * @description `service`: an account of a pipeline, without e-mail, password and login
             * @enum {string}
             */
            kind: "person" | "service";
            /** @description The permissions that the user has without a scope. GET /auth/can tells the others */
            permissions: string[];
            /** @description The roles with a scope. Each gives all its permissions to read, and within its scope those to deploy, cancel and approve, and to change freezes and targets */
            role_bindings: components["schemas"]["RoleBinding"][];
            /** @description Names of the roles without a scope */
            roles: string[];
            /** @description `active`, `inactive` or `suspended`. Only active users can do anything */
            status: string;
            /** @description The tenant that the user belongs to; null: none, the user sees all tenants */
            tenant_id: string | null;
            /** @description Unique name, shown wherever the user did something */
            username: string;
        };
        VariableDefinition: {
            /** @description The value if nothing else gives one */
            default?: unknown;
            /** @description What the variable is for */
            description?: string;
            /**
             * Format: uuid
             * @description A UUID of your choice that `prompted_values` may name instead of the name
             */
            id?: string;
            /** @description Letters, digits and _. The script reads the value as `SLIPWAY_VAR_<NAME>` in upper case, or as `{{ name }}` */
            name: string;
            /**
             * @description Whether people are asked for the value when they deploy; `prompted_values` gives it
             * @default false
             */
            prompted?: boolean;
            /**
             * @description Whether a deployment without a value is refused
             * @default false
             */
            required?: boolean;
            /**
             * @description Whether the value is a secret: sealed, shown as `***`, masked in output. It then needs at least 4 characters
             * @default false
             */
            sensitive?: boolean;
            /**
             * @description What the value must be
             * @default string
             * @enum {string}
             */
            type?: "string" | "number" | "boolean" | "json";
        };
        /** @description Values by variable name */
        Variables: {
            [key: string]: unknown;
        };
        VerifyTwoFactor: {
            /** @description Six digits of the authenticator, or an unused recovery code */
            code: string;
            /** @description The token of the login that waits for the second factor */
            pending_token: string;
        };
        Webhook: {
            /**
             * Format: date-time
             * @description When the webhook was created
             */
            created_at: string;
            /** @description Why Slipway disabled the webhook; null: it did not */
            disabled_reason: string | null;
            /** @description Whether it gets events */
            enabled: boolean;
            /** @description The events that it gets */
            events: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "deployment.approval_needed" | "deployment.approved" | "deployment.rejected" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /**
             * Format: uuid
             * @description UUID of the webhook
             */
            id: string;
            /** @description The webhook gets the events of this tenant; null: of all */
            tenant_id: string | null;
            /**
             * Format: date-time
             * @description When the webhook was last changed
             */
            updated_at: string;
            /** @description Where Slipway sends deliveries, by POST */
            url: string;
        };
        WebhookDelivery: {
            /** @description How many attempts there were */
            attempts: number;
            /**
             * Format: date-time
             * @description When the event was recorded
             */
            created_at: string;
            /** @description When the receiver accepted it; null: it has not */
            delivered_at: string | null;
            /** @description Why the last attempt failed; null: it did not */
            error: string | null;
            /**
             * @description What happened
             * @enum {string}
             */
            event: "deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "deployment.approval_needed" | "deployment.approved" | "deployment.rejected" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted";
            /**
             * Format: uuid
             * @description UUID of the delivery: the `webhook-id` of every attempt
             */
            id: string;
            /** @description When the last attempt was; null: none yet */
            last_attempt_at: string | null;
            /** @description When the next attempt is due; null if there will be none */
            next_attempt_at: string | null;
            /** @description The first 1,024 characters of the body */
            payload: string;
            /** @description The first 1,024 characters of the last answer */
            response_body: string | null;
            /** @description HTTP status of the last answer; null: there was none */
            response_status: number | null;
            /**
             * @description pending: another attempt follows; delivered: the receiver answered 2xx; failed: there are no more attempts
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /**
             * Format: uuid
             * @description The webhook, by UUID
             */
            webhook_id: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    listActions: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well */
                ids?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["SourceListItem"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createAction: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAction"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedSource"];
                };
            };
        };
    };
    getAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    deleteAction: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeSource"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    listActionVersions: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only versions that contain this text */
                search?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["SourceVersionListItem"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createActionVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateActionVersion"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedVersion"];
                };
            };
        };
    };
    getActionVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
                /** @description A full semantic version, for example 1.4.0 */
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceVersion"];
                };
            };
        };
    };
    listInstances: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Instance"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    getInstance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Instance"];
                };
            };
        };
    };
    deleteInstance: {
        parameters: {
            query?: {
                /** @description Delete the instance even if it is online or runs deployments. Its credential is void at once. Other instances get its deployments when it counts as lost, 30 seconds after its last heartbeat */
                force?: "true" | "false";
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateInstance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeInstance"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Instance"];
                };
            };
        };
    };
    listRoles: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Role"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createRole: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRole"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
        };
    };
    getRole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
        };
    };
    deleteRole: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateRole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeRole"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well */
                ids?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only users with this text in user name, full name or e-mail, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["UserRecord"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUser"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserRecord"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserRecord"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeUser"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserRecord"];
                };
            };
        };
    };
    listUserApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeys"];
                };
            };
        };
    };
    createUserApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
        };
    };
    deleteUserApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
                /** @description The API key, by UUID */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listTrusts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trusts"];
                };
            };
        };
    };
    createTrust: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTrust"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trust"];
                };
            };
        };
    };
    deleteTrust: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
                /** @description The trust, by UUID */
                trust_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    checkAuditChain: {
        parameters: {
            query?: {
                /** @description A position. Begin with 0 and continue with `next` to check the whole chain */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditChainPart"];
                };
            };
        };
    };
    listAuditLogs: {
        parameters: {
            query?: {
                /** @description Only records of this action */
                action?: "action.create" | "action.delete" | "action.publish" | "action.update" | "api_key.create" | "api_key.delete" | "auth.change_password" | "auth.cli_token" | "auth.disable_2fa" | "auth.enable_2fa" | "auth.login" | "auth.logout" | "auth.refresh" | "auth.setup_2fa" | "auth.token_exchange" | "auth.verify_2fa" | "content.create" | "deployment.cancel" | "deployment.create" | "deployment.preview" | "deployment.redeploy" | "environment.create" | "environment.delete" | "environment.update" | "freeze.create" | "freeze.delete" | "freeze.update" | "instance.delete" | "instance.join" | "instance.update" | "instance_grant.create" | "instance_grant.delete" | "pending_request.approve" | "pending_request.cancel" | "pending_request.reject" | "pending_request.supersede" | "pending_request.update" | "release.check" | "role.create" | "role.delete" | "role.update" | "sequence.create" | "sequence.delete" | "sequence.publish" | "sequence.update" | "session.delete" | "solution.create" | "solution.delete" | "solution.publish" | "solution.update" | "target.create" | "target.create_agent_token" | "target.delete" | "target.revoke_agent" | "target.update" | "tenant.create" | "tenant.delete" | "tenant.update" | "trust.create" | "trust.delete" | "user.create" | "user.delete" | "user.update" | "webhook.create" | "webhook.delete" | "webhook.redeliver" | "webhook.update";
                /** @description Only calls of this user */
                actor_id?: string;
                /** @description Only calls with this API key, which may be deleted */
                api_key_id?: string;
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description No records of these actions, at most 50, separated by commas */
                exclude_action?: string;
                /** @description From this moment on */
                from?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only records about the record with this id */
                resource_id?: string;
                /** @description Only records about this kind of record */
                resource_type?: "action" | "api_key" | "content" | "deployment" | "environment" | "freeze" | "instance" | "instance_grant" | "pending_request" | "release" | "role" | "sequence" | "session" | "solution" | "target" | "tenant" | "trust" | "user" | "webhook";
                /** @description Before this moment */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["AuditRecord"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    disableTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TwoFactorCode"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    enableTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TwoFactorCode"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TwoFactorEnabled"];
                };
            };
        };
    };
    setUpTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NoBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TwoFactorSetup"];
                };
            };
        };
    };
    verifyTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyTwoFactor"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginResponse"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeys"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
        };
    };
    deleteApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    askRight: {
        parameters: {
            query?: {
                /** @description In this environment; in any when omitted */
                environment_id?: string;
                /** @description The permission in question */
                permission?: "actions:create" | "actions:delete" | "actions:read" | "actions:update" | "audit:create" | "audit:delete" | "audit:read" | "audit:update" | "content:create" | "content:delete" | "content:read" | "content:update" | "deployments:approve" | "deployments:cancel" | "deployments:create" | "deployments:delete" | "deployments:override" | "deployments:read" | "deployments:update" | "environments:create" | "environments:delete" | "environments:read" | "environments:update" | "freezes:create" | "freezes:delete" | "freezes:read" | "freezes:update" | "instances:create" | "instances:delete" | "instances:read" | "instances:update" | "roles:create" | "roles:delete" | "roles:read" | "roles:update" | "sequences:create" | "sequences:delete" | "sequences:read" | "sequences:update" | "solutions:create" | "solutions:delete" | "solutions:read" | "solutions:update" | "tags:create" | "tags:delete" | "tags:read" | "tags:update" | "targets:create" | "targets:delete" | "targets:local" | "targets:read" | "targets:update" | "tenants:create" | "tenants:delete" | "tenants:read" | "tenants:update" | "users:create" | "users:delete" | "users:read" | "users:update" | "webhooks:create" | "webhooks:delete" | "webhooks:read" | "webhooks:update";
                /** @description For this source, by UUID or SqId */
                source_id?: string;
                /** @description Kind of the source */
                source_type?: components["schemas"]["SourceType"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Right"];
                };
            };
        };
    };
    exchangeCliCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CliToken"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginResponse"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginAnswer"];
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NoBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    getCurrentUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CurrentUser"];
                };
            };
        };
    };
    finishOidcLogin: {
        parameters: {
            query?: {
                /** @description The authorization code */
                code?: string;
                /** @description Why the provider refuses */
                error?: string;
                /** @description The issuer (RFC 9207) */
                iss?: string;
                /** @description The state of the login */
                state?: string;
            };
            header?: never;
            path: {
                /** @description The id of a provider, from listLoginProviders */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    startOidcLogin: {
        parameters: {
            query?: {
                /** @description For a program: the port on 127.0.0.1 on which it waits for the code, 1024 to 65535 */
                cli_port?: string;
                /** @description The S256 code challenge of the program (RFC 7636) */
                code_challenge?: string;
                /** @description The path of this server to which the browser goes after the login; `/` when omitted */
                return_to?: string;
                /** @description For a program: comes back unchanged with the code */
                state?: string;
            };
            header?: never;
            path: {
                /** @description The id of a provider, from listLoginProviders */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePassword"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    listLoginProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginProviders"];
                };
            };
        };
    };
    refreshLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NoBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginResponse"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sessions"];
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    createSseToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NoBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SseTokenResponse"];
                };
            };
        };
    };
    refreshSseToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshSseToken"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SseTokenResponse"];
                };
            };
        };
    };
    exchangeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExchangeToken"];
                "application/x-www-form-urlencoded": components["schemas"]["ExchangeToken"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangedToken"];
                };
            };
        };
    };
    checkCatalog: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckCatalog"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogChecks"];
                };
            };
        };
    };
    listContent: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["ListedContent"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createContent: {
        parameters: {
            query?: never;
            header?: {
                /** @description SHA-256 of the body, as in RFC 9530: `sha-256=:<base64>:`. A body with another hash is refused and not stored */
                "Content-Digest"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Content"];
                };
            };
        };
    };
    getContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description SHA-256 of the content, in hex */
                sha256: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
        };
    };
    listFreezes: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at" | "start_time" | "-start_time" | "end_time" | "-end_time";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Freeze"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createFreeze: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFreeze"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Freeze"];
                };
            };
        };
    };
    getFreeze: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Freeze"];
                };
            };
        };
    };
    deleteFreeze: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateFreeze: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeFreeze"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Freeze"];
                };
            };
        };
    };
    listDeployments: {
        parameters: {
            query?: {
                /** @description The action, by UUID or SqId */
                action_id?: string;
                /** @description Created before this time */
                created_before?: string;
                /** @description Created at this time or later */
                created_from?: string;
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only deployments that name this environment */
                environment_id?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only deployments with this text in the name of the source or in the state, in upper or lower case */
                search?: string;
                /** @description The sequence, by UUID or SqId */
                sequence_id?: string;
                /** @description The solution, by UUID or SqId */
                solution_id?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "created_at" | "-created_at" | "completed_at" | "-completed_at" | "source_name" | "-source_name";
                /** @description Only deployments of this kind of source */
                source_type?: components["schemas"]["SourceType"];
                /** @description Only deployments in this state */
                state?: components["schemas"]["DeploymentState"];
                /** @description Only deployments that include this target */
                target_id?: string;
                /** @description Only deployments for this tenant */
                tenant_id?: string;
                /** @description Only deployments of the user with this name */
                triggered_by?: string;
                /** @description Only deployments of this version */
                version?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["DeploymentSummary"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createDeployment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, 1 to 255 visible ASCII characters. For 24 hours, a call with the same key and body gets the first answer again and creates nothing; another body is 409. Concurrent calls wait for the first. A refused call and a dry run leave the key free. A key counts per user, method and path. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDeployment"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Unstarted"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateStarted"];
                };
            };
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateQueued"];
                };
            };
        };
    };
    getDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentDetail"];
                };
            };
        };
    };
    listCommandResults: {
        parameters: {
            query?: {
                /** @description Only commands that ended so */
                status?: "completed" | "failed" | "cancelled";
                /** @description Only the command of this step */
                step_id?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandResult"][];
                };
            };
        };
    };
    cancelDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelDeployment"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentDetail"];
                };
            };
        };
    };
    getDeploymentChanges: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replacements"];
                };
            };
        };
    };
    streamDeploymentLogs: {
        parameters: {
            query?: {
                /** @description Number of the first line to send; 0 when omitted */
                from?: string;
                /** @description A single-use token, from POST /api/v1/auth/sse-token */
                sse_token?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listDeploymentLogs: {
        parameters: {
            query?: {
                /** @description Only lines of the steps with this action */
                action_id?: string;
                /** @description Looks backward from the line before this number, and returns the last lines, in the order of their numbers. X-Log-Next is then `before` of the next page. Together with `offset` or `from` it is refused */
                before?: string;
                /** @description Number of the first line; X-Log-Next of the page before. Together with `offset` it is refused */
                from?: string;
                /** @description Only lines of this level */
                level?: "info" | "warning" | "error";
                /** @description Lines to return, 1 to 1,000; 100 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Lines to skip from the first stored line on, whether they match or not; 0 when omitted */
                offset?: string;
                /** @description Only lines that contain this text, in upper or lower case. Colour codes in a line do not count */
                search?: string;
                /** @description Only lines of this step */
                step_id?: string;
                /** @description Only lines of this origin; `system` are the sentences of Slipway */
                stream?: "stdout" | "stderr" | "system";
                /** @description Only lines of this target */
                target_id?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogEntry"][];
                };
            };
        };
    };
    readDeploymentLogText: {
        parameters: {
            query?: {
                /** @description Only lines of the steps with this action */
                action_id?: string;
                /** @description Number of the first line; 0 when omitted */
                from?: string;
                /** @description Only lines of this level */
                level?: "info" | "warning" | "error";
                /** @description Whether a line is the output alone, with its escape sequences; else time, target and text, separated by tabs */
                raw?: "true" | "false";
                /** @description Only lines that contain this text, in upper or lower case. Colour codes in a line do not count */
                search?: string;
                /** @description Only lines of this step */
                step_id?: string;
                /** @description Only lines of this origin; `system` are the sentences of Slipway */
                stream?: "stdout" | "stderr" | "system";
                /** @description Only lines of this target */
                target_id?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    redeployDeployment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Chosen by the caller, 1 to 255 visible ASCII characters. For 24 hours, a call with the same key and body gets the first answer again and creates nothing; another body is 409. Concurrent calls wait for the first. A refused call and a dry run leave the key free. A key counts per user, method and path. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RedeployDeployment"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Unstarted"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedeployStarted"];
                };
            };
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateQueued"];
                };
            };
        };
    };
    listPending: {
        parameters: {
            query?: {
                /** @description Only requests with this status */
                status?: components["schemas"]["PendingStatus"];
                /** @description Only requests for this tenant */
                tenant_id?: string;
                /** @description Only requests that wait for this first of all */
                waiting_for?: "start_time" | "approval" | "window" | "promotion" | "freeze" | "instance_pool" | "no_compatible_instance" | "tenant_limit" | "target_lock" | "capacity";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingRequest"][];
                };
            };
        };
    };
    getPending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingDetail"];
                };
            };
        };
    };
    cancelPending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updatePending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdatePending"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingRequest"];
                };
            };
        };
    };
    approvePending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Approve"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingRequest"];
                };
            };
        };
    };
    rejectPending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Reject"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingRequest"];
                };
            };
        };
    };
    previewDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDeployment"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
        };
    };
    listEnvironments: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well */
                ids?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `position` when omitted. Any other order has pages, no `cursor` */
                sort?: "position" | "-position" | "name" | "-name" | "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Environment"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateEnvironment"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
        };
    };
    getEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
        };
    };
    deleteEnvironment: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeEnvironment"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `ok` */
                        status: string;
                    };
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What the service needs, each with its status */
                        dependencies: {
                            [key: string]: string;
                        };
                        /** @description `ready` or `unavailable` */
                        status: string;
                    };
                };
            };
        };
    };
    listInstanceGrants: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["InstanceGrant"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createInstanceGrant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateInstanceGrant"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInstanceGrant"];
                };
            };
        };
    };
    getInstanceGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceGrant"];
                };
            };
        };
    };
    revokeInstanceGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    getOverviewCounts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OverviewCounts"];
                };
            };
        };
    };
    listReleases: {
        parameters: {
            query?: {
                /** @description The action, by UUID or SqId */
                action_id?: string;
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only releases in this environment */
                environment_id?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in the name of the source or target, in upper or lower case */
                search?: string;
                /** @description The sequence, by UUID or SqId */
                sequence_id?: string;
                /** @description The solution, by UUID or SqId */
                solution_id?: string;
                /** @description Only releases of this kind of source */
                source_type?: components["schemas"]["SourceType"];
                /** @description Only releases in this state */
                state?: components["schemas"]["ShownReleaseState"];
                /** @description Only targets with this tag: `KEY=VALUE`, or `KEY` alone for every value */
                tag?: string;
                /** @description Only releases on this target */
                target_id?: string;
                /** @description Only releases for this tenant */
                tenant_id?: string;
                /** @description Only where this version is in force */
                version?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Installed"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    checkReleases: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckReleases"];
            };
        };
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckRequested"];
                };
            };
        };
    };
    getReleaseMatrix: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only releases in this environment */
                environment_id?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in the name of the source, in upper or lower case */
                search?: string;
                /** @description Only releases of this kind of source */
                source_type?: components["schemas"]["SourceType"];
                /** @description Only releases for this tenant */
                tenant_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["MatrixRow"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    getPromotion: {
        parameters: {
            query?: {
                /** @description The environment that has the version */
                from_environment_id?: string;
                /** @description The source, by UUID or SqId */
                source_id?: string;
                /** @description The kind of the source: a solution (sequences), a sequence (actions) or a single action */
                source_type?: components["schemas"]["SourceType"];
                /** @description The environment that is to get it */
                to_environment_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Promotion"];
                };
            };
        };
    };
    getRollback: {
        parameters: {
            query?: {
                /** @description The action, by UUID or SqId */
                action_id?: string;
                /** @description Only targets on which this deployment is in force or was tried last */
                deployment_id?: string;
                /** @description Only releases in this environment */
                environment_id?: string;
                /** @description The sequence, by UUID or SqId */
                sequence_id?: string;
                /** @description The solution, by UUID or SqId */
                solution_id?: string;
                /** @description Only targets with this tag: `KEY=VALUE`, or `KEY` alone for every value */
                tag?: string;
                /** @description Only these targets, by UUID, at most 100, separated by commas */
                target_ids?: string;
                /** @description Only releases for this tenant */
                tenant_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rollback"];
                };
            };
        };
    };
    listSequences: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well */
                ids?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["SourceListItem"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createSequence: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSequence"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedSource"];
                };
            };
        };
    };
    getSequence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    deleteSequence: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateSequence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeSource"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    listSequenceVersions: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only versions that contain this text */
                search?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["SourceVersionListItem"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createSequenceVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSequenceVersion"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedVersion"];
                };
            };
        };
    };
    getSequenceVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
                /** @description A full semantic version, for example 1.4.0 */
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceVersion"];
                };
            };
        };
    };
    getServerInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Version of the API, as in the path */
                        api_version: string;
                        /**
                         * Format: uuid
                         * @description The process of the gateway that answers; new after each start
                         */
                        instance_id: string;
                        /** @description Always `slipway` */
                        name: string;
                        /**
                         * Format: date-time
                         * @description The clock of the gateway
                         */
                        server_time: string;
                        /** @description Version of the gateway that answers */
                        server_version: string;
                    };
                };
            };
        };
    };
    listSolutions: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well */
                ids?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["SourceListItem"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createSolution: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSolution"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedSource"];
                };
            };
        };
    };
    getSolution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    deleteSolution: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateSolution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeSource"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    listSolutionVersions: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only versions that contain this text */
                search?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["SourceVersionListItem"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createSolutionVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSolutionVersion"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedVersion"];
                };
            };
        };
    };
    getSolutionVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
                /** @description A full semantic version, for example 1.4.0 */
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceVersion"];
                };
            };
        };
    };
    streamResource: {
        parameters: {
            query?: {
                /** @description A single-use token, from POST /api/v1/auth/sse-token */
                sse_token?: string;
            };
            header?: never;
            path: {
                /** @description One of `deployments`, `pending`, `targets`, `instances`, `freezes`, `releases` */
                resource_type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listTags: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only tags with this text in `KEY=VALUE`, in upper or lower case */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["TagRecord"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    listTargets: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only targets that deployments may use, or may not use */
                enabled?: "true" | "false";
                /** @description Only targets of this environment */
                environment_id?: string;
                /** @description Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well */
                ids?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "status" | "-status" | "created_at" | "-created_at" | "last_seen_at" | "-last_seen_at" | "environment_name" | "-environment_name";
                /** @description Only targets with this status */
                status?: components["schemas"]["TargetStatus"];
                /** @description Only targets with this tag: `KEY=VALUE`, or `KEY` alone for every value */
                tag?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Target"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createTarget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTarget"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
        };
    };
    getTarget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
        };
    };
    deleteTarget: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateTarget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeTarget"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Target"];
                };
            };
        };
    };
    getTargetAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetAgent"];
                };
            };
        };
    };
    revokeTargetAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createAgentToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentToken"];
                };
            };
        };
    };
    listTargetDeployments: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["DeploymentOfTarget"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    listTargetReleases: {
        parameters: {
            query?: {
                /** @description The action, by UUID or SqId */
                action_id?: string;
                /** @description Whether to leave only what is in force */
                current?: "true" | "false";
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in the name of the source, in upper or lower case */
                search?: string;
                /** @description The sequence, by UUID or SqId */
                sequence_id?: string;
                /** @description The solution, by UUID or SqId */
                solution_id?: string;
                /** @description Only releases in this state */
                state?: components["schemas"]["ShownReleaseState"];
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Release"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    listTenants: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well */
                ids?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only entries with this text in their name, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "name" | "-name" | "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Tenant"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createTenant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTenant"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    getTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    deleteTenant: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeTenant"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only webhooks with this text in their URL, in upper or lower case */
                search?: string;
                /** @description One column, `-` for the reverse order; `-created_at` when omitted. Any other order has pages, no `cursor` */
                sort?: "url" | "-url" | "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["Webhook"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: {
                /** @description The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409) */
                expected_updated_at?: string;
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the body is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeWebhook"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins after the last entry of the answer, whatever was created or deleted meanwhile */
                cursor?: string;
                /** @description Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest */
                limit?: string;
                /** @description Number of the page, from 1; a smaller number counts as 1 */
                page?: string;
                /** @description Only deliveries with this status */
                status?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entries of this page */
                        data: components["schemas"]["WebhookDelivery"][];
                        /** @description Where this page stands in the list */
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery, by UUID */
                delivery_id: string;
                /** @description A UUID, or the SqId of the record if it has one */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
}
