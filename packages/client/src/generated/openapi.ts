// Made by packages/client/scripts/generate.mjs from the OpenAPI document: `make client`.
export interface components {
    schemas: {
        ActionDefinition: {
            /** @description Tells whether a target is as the action left it: exit code 0, it is; 1, it has drifted; anything else, the check could not be done. It runs with the variables, files, environment and working directory of the action. */
            check?: {
                /**
                 * @description That of the action when omitted
                 * @enum {string}
                 */
                interpreter?: "sh" | "bash" | "python3" | "node" | "pwsh";
                /** @description How often the check runs; without it, as often as SLIPWAY_DRIFT_CHECK_INTERVAL says */
                interval_seconds?: number;
                script: string;
                /** @description 60 when omitted */
                timeout_seconds?: number;
            };
            env?: {
                [key: string]: string;
            };
            files?: components["schemas"]["ActionFile"][];
            /** @enum {string} */
            interpreter?: "sh" | "bash" | "python3" | "node" | "pwsh";
            max_retries?: number;
            rollback?: {
                script: string;
            };
            script: string;
            timeout_seconds?: number;
            /** @constant */
            type: "script";
            variables?: components["schemas"]["VariableDefinition"][];
            working_directory?: string;
        };
        ActionFile: {
            /** @description Id of content, from POST /api/v1/content */
            content: string;
            /** @description Permissions in octal; 0644 when omitted */
            mode?: string;
            /** @description Relative to the working directory and below it */
            path: string;
        };
        AgentConnection: {
            /** @constant */
            type: "agent";
        };
        AgentToken: {
            /** Format: date-time */
            expires_at: string;
            /** @description For `target-agent enrol`, once. It is not shown again */
            token: string;
        };
        Analysis: {
            /** Format: date-time */
            analyzed_at: string;
            confidence: number;
            /** @description The same for failures of one kind, on any target */
            fingerprint: string;
            likely_cause: string;
            /** @description The rules (rules-2), or the model of the configured endpoint */
            model_version: string;
            remediation: string[];
            summary: string;
        };
        ApiKey: {
            /** Format: date-time */
            created_at: string;
            description: string | null;
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            key_prefix: string;
            last_used_at: string | null;
            last_used_ip: string | null;
            name: string;
            scopes: string[];
        };
        ApiKeys: {
            api_keys: components["schemas"]["ApiKey"][];
        };
        AttemptsError: {
            error: {
                /** @constant */
                code: "AUTH_RATE_LIMIT_EXCEEDED";
                message: string;
                reason: string;
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
                position: number | null;
                problem: string;
                record_number: number | null;
            }[];
            /** @description The last link. Compare it with the head that each gateway publishes in its log and its metrics */
            head: {
                hash: string;
                position: number;
            };
            /** @description How many links were checked */
            links: number;
            /** @description The `after` of the next part; null at the end of the chain */
            next: number | null;
        };
        AuditRecord: {
            action: string;
            actor_id: string | null;
            actor_ip: string | null;
            actor_name: string | null;
            /** Format: date-time */
            at: string;
            details: {
                [key: string]: unknown;
            };
            /** Format: uuid */
            id: string;
            request_id: string | null;
            resource_id: string | null;
            resource_type: string;
            tenant_id: string | null;
        };
        CancelDeployment: {
            reason?: string;
        };
        /** @description `variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive until a request has a new value and a `sensitive_variables` without its name. */
        ChangeEnvironment: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            description?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name?: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters. */
            sensitive_variables?: string[];
            tenant_id?: string | null;
            variables?: components["schemas"]["Variables"];
        };
        /** @description `start_time` also sets the UTC offset of the recurrence. */
        ChangeFreeze: {
            description?: string | null;
            /** Format: date-time */
            end_time?: string;
            environment_id?: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name?: string;
            recurrence?: string | null;
            solution_id?: string | null;
            /** Format: date-time */
            start_time?: string;
            tenant_id?: string | null;
            time_zone?: string | null;
        };
        /** @description Only users without tenant change instances (403). */
        ChangeInstance: {
            draining?: boolean;
            /** @description Replaces all labels, until the instance reports other labels */
            labels?: {
                [key: string]: string;
            };
        };
        ChangePassword: {
            current_password: string;
            new_password: components["schemas"]["NewPassword"];
        };
        /** @description Takes effect at once for all users with the role. Built-in roles cannot be changed (409). */
        ChangeRole: {
            description?: string | null;
            /** Format: name */
            name?: string;
            /** @description The caller needs all of them */
            permissions?: ("actions:create" | "actions:delete" | "actions:read" | "actions:update" | "audit:create" | "audit:delete" | "audit:read" | "audit:update" | "content:create" | "content:delete" | "content:read" | "content:update" | "deployments:cancel" | "deployments:create" | "deployments:delete" | "deployments:read" | "deployments:update" | "environments:create" | "environments:delete" | "environments:read" | "environments:update" | "freezes:create" | "freezes:delete" | "freezes:read" | "freezes:update" | "instances:create" | "instances:delete" | "instances:read" | "instances:update" | "roles:create" | "roles:delete" | "roles:read" | "roles:update" | "sequences:create" | "sequences:delete" | "sequences:read" | "sequences:update" | "solutions:create" | "solutions:delete" | "solutions:read" | "solutions:update" | "tags:create" | "tags:delete" | "tags:read" | "tags:update" | "targets:create" | "targets:delete" | "targets:local" | "targets:read" | "targets:update" | "tenants:create" | "tenants:delete" | "tenants:read" | "tenants:update" | "users:create" | "users:delete" | "users:read" | "users:update" | "webhooks:create" | "webhooks:delete" | "webhooks:read" | "webhooks:update")[];
        };
        /** @description A published version never changes: publish a new version instead. */
        ChangeSource: {
            description?: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name?: string;
        };
        /** @description `connection` replaces the whole connection. Its secrets need to be sent again only if its type, host, port or user name changes. `tags` replaces all tags. `variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive until a request has a new value and a `sensitive_variables` without its name. */
        ChangeTarget: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            connection?: components["schemas"]["ConnectionInput"];
            description?: string | null;
            enabled?: boolean;
            environment_id?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name?: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters. */
            sensitive_variables?: string[];
            tags?: components["schemas"]["Tag"][];
            tenant_id?: string | null;
            variables?: components["schemas"]["Variables"];
        };
        /** @description `variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive until a request has a new value and a `sensitive_variables` without its name. */
        ChangeTenant: {
            description?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name?: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters. */
            sensitive_variables?: string[];
            slug?: string;
            variables?: components["schemas"]["Variables"];
        };
        /** @description A new password, status or tenant ends the sessions and open streams of the user. `roles` replaces all roles. Callers cannot suspend, move or demote themselves, nor the last active administrator without tenant (409). A change of roles or tenant needs every permission that the user has afterwards. Only a caller without tenant can remove the tenant of a user (403). To change password or e-mail, the caller needs every permission of the user (403). Renaming and suspending need only `users:update`. */
        ChangeUser: {
            display_name?: string | null;
            /**
             * Format: email
             * @description In upper or lower case
             */
            email?: string;
            /** @description Whether the e-mail belongs to the user. A new e-mail counts as not verified unless this is true */
            email_verified?: boolean;
            password?: string;
            /** @description Names of roles. The caller needs all their permissions. */
            roles?: string[];
            /**
             * @description A suspended or inactive user can do nothing. Takes effect at once
             * @enum {string}
             */
            status?: "active" | "inactive" | "suspended";
            tenant_id?: string | null;
            /** Format: name */
            username?: string;
        };
        /** @description The tenant of a webhook cannot change, because its deliveries contain data of the tenant. A new secret signs from the next attempt on. */
        ChangeWebhook: {
            enabled?: boolean;
            /** @description Each needs the permission to read its data. `deployment.queued` and `pending.*` contain the list item of the pending request. `deployment.updated`: a rollback began, or another instance took over. `release.restored`: a check found the target in sync again, or another deployment was applied. `*.deleted` contain only the id. */
            events?: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /** @description Signs deliveries after Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes */
            secret?: string;
            /**
             * @description http or https, without user name and password, with a public address
             * @example https://hooks.example.com/slipway
             */
            url?: string;
        };
        /** @description At most one source. Without targets: on all targets. At least one of both is needed. */
        CheckReleases: {
            /** Format: id-action */
            action_id?: string;
            /** Format: id-sequence */
            sequence_id?: string;
            /** Format: id-solution */
            solution_id?: string;
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
        CommandResult: {
            action_name?: string;
            analysis?: components["schemas"]["Analysis"];
            /** Format: date-time */
            completed_at: string;
            duration_ms: number;
            error_message?: string;
            exit_code?: number;
            /**
             * @description Why the command failed; absent where its exit code or its output tells
             * @enum {string}
             */
            failure_reason?: "signal" | "step_timeout" | "deployment_timeout" | "deployment_ended" | "instance_lost" | "instance_restarted" | "instance_cut_off" | "target_refused" | "target_silent" | "target_name_unknown" | "target_authentication" | "target_host_key" | "target_connection_lost" | "target_shell" | "working_directory_missing" | "interpreter_missing" | "content_not_delivered";
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description When the start of the last attempt was recorded, which is before it began
             */
            started_at: string;
            status: string;
            stderr_tail?: string;
            stdout_tail?: string;
            /** Format: uuid */
            target_id: string;
            target_name?: string;
        };
        Connection: components["schemas"]["LocalConnection"] | components["schemas"]["SshConnection"] | components["schemas"]["AgentConnection"] | components["schemas"]["SimulatedConnection"];
        ConnectionInput: components["schemas"]["LocalConnection"] | components["schemas"]["SshConnectionInput"] | components["schemas"]["AgentConnection"] | components["schemas"]["SimulatedConnection"];
        Content: {
            id: string;
            /** @description Bytes */
            size: number;
        };
        CreateAction: {
            definition: components["schemas"]["ActionDefinition"];
            description?: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name: string;
            tenant_id?: string | null;
            /** Format: version */
            version: string;
        };
        CreateActionVersion: {
            definition: components["schemas"]["ActionDefinition"];
            /** Format: version */
            version: string;
        };
        CreateApiKey: {
            description?: string | null;
            /** @description Without it the key does not expire */
            expires_in_days?: number;
            /** Format: name */
            name: string;
            /** @description The permissions of the key; none: all permissions of its user */
            scopes?: ("actions:create" | "actions:delete" | "actions:read" | "actions:update" | "audit:create" | "audit:delete" | "audit:read" | "audit:update" | "content:create" | "content:delete" | "content:read" | "content:update" | "deployments:cancel" | "deployments:create" | "deployments:delete" | "deployments:read" | "deployments:update" | "environments:create" | "environments:delete" | "environments:read" | "environments:update" | "freezes:create" | "freezes:delete" | "freezes:read" | "freezes:update" | "instances:create" | "instances:delete" | "instances:read" | "instances:update" | "roles:create" | "roles:delete" | "roles:read" | "roles:update" | "sequences:create" | "sequences:delete" | "sequences:read" | "sequences:update" | "solutions:create" | "solutions:delete" | "solutions:read" | "solutions:update" | "tags:create" | "tags:delete" | "tags:read" | "tags:update" | "targets:create" | "targets:delete" | "targets:local" | "targets:read" | "targets:update" | "tenants:create" | "tenants:delete" | "tenants:read" | "tenants:update" | "users:create" | "users:delete" | "users:read" | "users:update" | "webhooks:create" | "webhooks:delete" | "webhooks:read" | "webhooks:update")[];
        };
        CreatedApiKey: {
            api_key: components["schemas"]["ApiKey"];
            full_key: string;
            warning: string;
        };
        CreateDeployment: {
            /** Format: id-action */
            action_id?: string;
            bypass_cache?: boolean;
            deployment_timeout_seconds?: number;
            /** @description Answers with the preview, and creates nothing */
            dry_run?: boolean;
            /** Format: id-environment */
            environment_id?: string;
            /** @description The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences lists the parts that differ. A preview and dry_run ignore it. */
            expected_plan_hash?: string;
            failure_strategy?: components["schemas"]["FailureStrategy"];
            max_retries?: number;
            /** @description Leaves out targets on which the same versions and values are in force and nothing was attempted since. The answer lists them as unchanged_target_ids, in config of a deployment. If no target is left, the answer is 409 CONFLICT with details.unchanged_target_ids. */
            only_changed?: boolean;
            override_freeze?: boolean;
            override_reason?: string;
            priority?: number;
            prompted_values?: {
                [key: string]: unknown;
            };
            rollback_strategy?: components["schemas"]["RollbackStrategy"];
            /** Format: id-sequence */
            sequence_id?: string;
            /** Format: id-solution */
            solution_id?: string;
            /** @description Refuses the request if it would get one of these warnings: templates without a value, variables that nothing uses, offline targets. details.warnings lists them. Freezes, capacity and stale targets do not count. */
            strict?: boolean;
            target_ids?: string[];
            target_mode?: components["schemas"]["TargetMode"];
            target_tags?: components["schemas"]["Tag"][];
            target_tags_match_all?: boolean;
            /** Format: id-tenant */
            tenant_id?: string;
            timeout_seconds?: number;
            variables?: components["schemas"]["Variables"];
            /** Format: version-requirement */
            version_requirement?: string;
        };
        CreatedWebhook: {
            /** Format: date-time */
            created_at: string;
            /** @description Why Slipway disabled the webhook */
            disabled_reason: string | null;
            enabled: boolean;
            events: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /** Format: uuid */
            id: string;
            /** @description The generated secret. It is not shown again */
            secret?: string;
            tenant_id: string | null;
            /** Format: date-time */
            updated_at: string;
            url: string;
        };
        CreateEnvironment: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            description?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters. */
            sensitive_variables?: string[];
            tenant_id?: string | null;
            variables?: components["schemas"]["Variables"];
        };
        CreateFreeze: {
            description?: string | null;
            /** Format: date-time */
            end_time: string;
            environment_id?: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name: string;
            recurrence?: string | null;
            solution_id?: string | null;
            /** Format: date-time */
            start_time: string;
            tenant_id?: string | null;
            time_zone?: string | null;
        };
        /** @description Only users without tenant create grants (403). */
        CreateInstanceGrant: {
            /** @description From now on; 3600 when omitted */
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
            message: string;
            /** @constant */
            pending: true;
            /** Format: uuid */
            pending_request_id: string;
            /** @description The targets that only_changed left out; absent without it */
            unchanged_target_ids?: string[];
            /** @description Templates without a value, variables that nothing uses, offline and stale targets, active freezes */
            warnings: string[];
        };
        CreateRole: {
            description?: string | null;
            /** Format: name */
            name: string;
            /** @description The caller needs all of them */
            permissions: ("actions:create" | "actions:delete" | "actions:read" | "actions:update" | "audit:create" | "audit:delete" | "audit:read" | "audit:update" | "content:create" | "content:delete" | "content:read" | "content:update" | "deployments:cancel" | "deployments:create" | "deployments:delete" | "deployments:read" | "deployments:update" | "environments:create" | "environments:delete" | "environments:read" | "environments:update" | "freezes:create" | "freezes:delete" | "freezes:read" | "freezes:update" | "instances:create" | "instances:delete" | "instances:read" | "instances:update" | "roles:create" | "roles:delete" | "roles:read" | "roles:update" | "sequences:create" | "sequences:delete" | "sequences:read" | "sequences:update" | "solutions:create" | "solutions:delete" | "solutions:read" | "solutions:update" | "tags:create" | "tags:delete" | "tags:read" | "tags:update" | "targets:create" | "targets:delete" | "targets:local" | "targets:read" | "targets:update" | "tenants:create" | "tenants:delete" | "tenants:read" | "tenants:update" | "users:create" | "users:delete" | "users:read" | "users:update" | "webhooks:create" | "webhooks:delete" | "webhooks:read" | "webhooks:update")[];
        };
        CreateSequence: {
            definition: components["schemas"]["SequenceDefinition"];
            description?: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name: string;
            tenant_id?: string | null;
            /** Format: version */
            version: string;
        };
        CreateSequenceVersion: {
            definition: components["schemas"]["SequenceDefinition"];
            /** Format: version */
            version: string;
        };
        CreateSolution: {
            definition: components["schemas"]["SolutionDefinition"];
            description?: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name: string;
            tenant_id?: string | null;
            /** Format: version */
            version: string;
        };
        CreateSolutionVersion: {
            definition: components["schemas"]["SolutionDefinition"];
            /** Format: version */
            version: string;
        };
        CreateStarted: {
            deployment: components["schemas"]["DeploymentDetail"];
            /** Format: uuid */
            deployment_id: string;
            message: string;
            /** @constant */
            pending: false;
            /** @description Templates without a value, variables that nothing uses, offline and stale targets, active freezes */
            warnings: string[];
        };
        CreateTarget: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency?: ("allow" | "queue" | "reject" | "supersede") | null;
            connection: components["schemas"]["ConnectionInput"];
            description?: string | null;
            enabled?: boolean;
            environment_id?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters. */
            sensitive_variables?: string[];
            tags?: components["schemas"]["Tag"][];
            tenant_id?: string | null;
            variables?: components["schemas"]["Variables"];
        };
        CreateTenant: {
            description?: string | null;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector?: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by?: string | null;
            /** Format: name */
            name: string;
            /** @description Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of them needs a value of at least 4 characters. */
            sensitive_variables?: string[];
            slug?: string;
            variables?: components["schemas"]["Variables"];
        };
        CreateUser: {
            display_name?: string | null;
            /**
             * Format: email
             * @description In upper or lower case
             */
            email: string;
            /** @description Whether the e-mail belongs to the user. A new e-mail counts as not verified unless this is true */
            email_verified?: boolean;
            password: string;
            /** @description Names of roles. The caller needs all their permissions. */
            roles: string[];
            /**
             * @description A suspended or inactive user can do nothing. Takes effect at once
             * @enum {string}
             */
            status?: "active" | "inactive" | "suspended";
            tenant_id?: string | null;
            /** Format: name */
            username: string;
        };
        /** @description Without `secret`, Slipway generates one and shows it only in this answer. */
        CreateWebhook: {
            enabled?: boolean;
            /** @description Each needs the permission to read its data. `deployment.queued` and `pending.*` contain the list item of the pending request. `deployment.updated`: a rollback began, or another instance took over. `release.restored`: a check found the target in sync again, or another deployment was applied. `*.deleted` contain only the id. */
            events: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /** @description Signs deliveries after Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes */
            secret?: string;
            /** @description The webhook gets the events of this tenant; without tenant, which only a user without tenant may choose, all */
            tenant_id?: string | null;
            /**
             * @description http or https, without user name and password, with a public address
             * @example https://hooks.example.com/slipway
             */
            url: string;
        };
        CurrentUser: {
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            email: string;
            email_verified: boolean;
            /** Format: uuid */
            id: string;
            last_login_at: string | null;
            permissions: string[];
            roles: string[];
            status: string;
            tenant_id: string | null;
            two_factor_enabled: boolean;
            username: string;
        };
        DeploymentConfig: {
            environment_id: string | null;
            failure_strategy: components["schemas"]["FailureStrategy"];
            max_retries: number;
            priority: number;
            rollback_strategy: components["schemas"]["RollbackStrategy"];
            target_ids: string[];
            target_mode: components["schemas"]["TargetMode"];
            target_tags: components["schemas"]["Tag"][];
            tenant_id: string | null;
            timeout_seconds: number;
            /** @description The targets that only_changed left out; absent without it */
            unchanged_target_ids?: string[];
            variables: components["schemas"]["Variables"];
        };
        DeploymentDetail: {
            action_id: string | null;
            action_name: string | null;
            action_version: string | null;
            analysis_enabled: boolean;
            cancel_reason: string | null;
            cancelled_at: string | null;
            cancelled_by: string | null;
            completed_at: string | null;
            completed_steps: number;
            config: components["schemas"]["DeploymentConfig"];
            /** Format: date-time */
            created_at: string;
            duration_ms: number | null;
            environment_id: string | null;
            environment_name: string | null;
            error_message: string | null;
            failed_steps: number;
            /** Format: uuid */
            id: string;
            plan: components["schemas"]["PlanView"] | null;
            progress: number;
            sequence_id: string | null;
            sequence_name: string | null;
            sequence_version: string | null;
            solution_id: string | null;
            solution_name: string | null;
            solution_version: string | null;
            /** Format: uuid */
            source_deployment_id?: string;
            source_type: components["schemas"]["SourceType"];
            started_at: string | null;
            /** @enum {string} */
            state: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "rolling_back" | "rolled_back";
            tenant_id: string | null;
            tenant_name: string | null;
            total_steps: number;
            triggered_by: string | null;
        };
        DeploymentOfTarget: {
            action_id: string | null;
            action_name: string | null;
            action_version: string | null;
            completed_at: string | null;
            completed_steps: number;
            /** Format: date-time */
            created_at: string;
            duration_ms: number | null;
            environment_id: string | null;
            environment_name: string | null;
            failed_steps: number;
            /** Format: uuid */
            id: string;
            progress: number;
            sequence_id: string | null;
            sequence_name: string | null;
            sequence_version: string | null;
            solution_id: string | null;
            solution_name: string | null;
            solution_version: string | null;
            source_type: components["schemas"]["SourceType"];
            started_at: string | null;
            /** @enum {string} */
            state: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "rolling_back" | "rolled_back";
            /** @description The steps on this target. Failed are those that have ever failed */
            target_steps: {
                completed: number;
                failed: number;
                total: number;
            };
            tenant_id: string | null;
            tenant_name: string | null;
            total_steps: number;
            triggered_by: string | null;
        };
        DeploymentSummary: {
            action_id: string | null;
            action_name: string | null;
            action_version: string | null;
            completed_at: string | null;
            completed_steps: number;
            /** Format: date-time */
            created_at: string;
            duration_ms: number | null;
            environment_id: string | null;
            environment_name: string | null;
            failed_steps: number;
            /** Format: uuid */
            id: string;
            progress: number;
            sequence_id: string | null;
            sequence_name: string | null;
            sequence_version: string | null;
            solution_id: string | null;
            solution_name: string | null;
            solution_version: string | null;
            source_type: components["schemas"]["SourceType"];
            started_at: string | null;
            /** @enum {string} */
            state: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "rolling_back" | "rolled_back";
            tenant_id: string | null;
            tenant_name: string | null;
            total_steps: number;
            triggered_by: string | null;
        };
        Environment: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency: ("allow" | "queue" | "reject" | "supersede") | null;
            /** Format: date-time */
            created_at: string;
            description: string | null;
            /** Format: uuid */
            id: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by: string | null;
            name: string;
            /** @description Names of the variables with values that are never shown */
            sensitive_variables: string[];
            sqid: string;
            tenant_id: string | null;
            /** Format: date-time */
            updated_at: string;
            /** @description Values by name; `***` for those of sensitive_variables */
            variables: {
                [key: string]: unknown;
            };
        };
        Error: {
            error: {
                code: string;
                details?: {
                    [key: string]: unknown;
                };
                message: string;
            };
        };
        /** @enum {string} */
        FailureStrategy: "stop_on_first_failure" | "continue_on_failure" | "ignore_failures";
        Freeze: {
            active: boolean;
            /** Format: date-time */
            created_at: string;
            created_by: string | null;
            description: string | null;
            /** Format: date-time */
            end_time: string;
            environment_id: string | null;
            /** Format: uuid */
            id: string;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by: string | null;
            name: string;
            recurrence: string | null;
            solution_id: string | null;
            /** Format: date-time */
            start_time: string;
            tenant_id: string | null;
            time_zone: string | null;
            /** Format: date-time */
            updated_at: string;
            /** @description The present window and the next ones, in order: those that begin within 14 days, at most 100. If none begins by then, the next one within a year. */
            windows: {
                /** Format: date-time */
                ends_at: string;
                /** Format: date-time */
                starts_at: string;
            }[];
        };
        HeldTarget: {
            /**
             * Format: uuid
             * @description The deployment that holds the target; absent if it is of another tenant
             */
            deployment_id?: string;
            /** Format: date-time */
            since: string;
            /** Format: uuid */
            target_id: string;
            target_name: string;
        };
        Installed: {
            applied_at: string | null;
            applied_by: string | null;
            /** @description Null if nothing is in force on the target, or none of its actions declares a check */
            check: components["schemas"]["ReleaseCheck"] | null;
            deployment_id: string | null;
            /** @description The environment of the target; if it has none, that of the deployment */
            environment_id: string | null;
            environment_name: string | null;
            /** @description The last attempt, if it is not applied: it runs, failed, was cancelled or was rolled back */
            last_attempt: {
                /** Format: date-time */
                begun_at: string;
                /**
                 * Format: uuid
                 * @description Retention may have deleted the deployment
                 */
                deployment_id: string;
                ended_at: string | null;
                /**
                 * @description What became of a deployment on one target. It is applied when all its commands on the target have succeeded there, or, where failures are ignored, have been executed.
                 * @enum {string}
                 */
                state: "running" | "applied" | "failed" | "cancelled" | "rolling_back" | "rolled_back" | "rollback_failed";
                triggered_by: string | null;
                version: string;
            } | null;
            /** Format: uuid */
            source_id: string;
            source_name: string;
            source_type: components["schemas"]["SourceType"];
            /**
             * @description The state of the last attempt; `drifted` if a check found the version in force changed and no attempt runs
             * @enum {string}
             */
            state: "running" | "applied" | "failed" | "cancelled" | "rolling_back" | "rolled_back" | "rollback_failed" | "drifted";
            /** Format: uuid */
            target_id: string;
            target_name: string;
            tenant_id: string | null;
            tenant_name: string | null;
            values_hash: string | null;
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
            /** Format: date-time */
            created_at: string;
            draining: boolean;
            /** Format: uuid */
            id: string;
            labels: {
                [key: string]: string;
            };
            last_heartbeat_at: string | null;
            name: string;
            /**
             * @description offline: no heartbeat for 30 seconds; draining: the instance finishes its runs and gets no new ones
             * @enum {string}
             */
            status: "online" | "draining" | "offline";
            /** @description The instance runs only deployments of this tenant */
            tenant_id: string | null;
            version: string;
        };
        InstanceGrant: {
            /** Format: date-time */
            created_at: string;
            created_by: string | null;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
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
            tenant_id: string | null;
            /** @description How many instances have joined with the grant */
            used: number;
            uses: number;
        };
        /** @description Absent if any instance will do */
        InstancePool: {
            /** @description How many of those take runs: online, compatible and not draining */
            accepting: number;
            /** @description Instances that serve the tenant of the request */
            known: number;
            /** @description How many of them have the labels */
            matching: number;
            /** @description The selector as text, such as `zone=a,!spot`; the same as the label of metrics */
            name: string;
            /** @description The place among the requests of this pool */
            position: number;
            selector: components["schemas"]["InstanceSelector"];
            /** @description Slots of the instances that take runs */
            slots: number;
            /** @description How many of these slots are taken */
            taken: number;
        };
        /** @description Conditions on the labels of an instance, all of which it must meet. NotIn also accepts an instance without the label. */
        InstanceSelector: {
            match_expressions?: components["schemas"]["LabelExpression"][];
            /** @description Labels that the instance has, with these values */
            match_labels?: {
                [key: string]: string;
            };
        };
        LabelExpression: {
            key: string;
            /** @enum {string} */
            operator: "In" | "NotIn";
            values: string[];
        } | {
            key: string;
            /** @enum {string} */
            operator: "Exists" | "DoesNotExist";
        };
        /** @description Commands run on the machine of the orchestration instance. Creating a local target, or changing a target to local, needs the permission `targets:local`; users of a tenant never may. */
        LocalConnection: {
            /** @constant */
            type: "local";
        };
        LogEntry: {
            analysis: components["schemas"]["Analysis"] | null;
            event_type: string;
            /** Format: uuid */
            id: string;
            level: string;
            message: string;
            metadata: {
                [key: string]: unknown;
            } | null;
            stderr: string | null;
            stdout: string | null;
            step_id: string | null;
            target_id: string | null;
            target_name: string | null;
            /** Format: date-time */
            timestamp: string;
        };
        LoginAnswer: components["schemas"]["LoginResponse"] | components["schemas"]["TwoFactorRequired"];
        LoginRequest: {
            email: string;
            password: string;
        };
        LoginResponse: {
            access_token: string;
            expires_in: number;
            /** @constant */
            token_type: "Bearer";
            user: components["schemas"]["User"];
        };
        MatrixRow: {
            cells: {
                /** @description Targets on which a check found the version in force changed */
                drifted: number;
                environment_id: string | null;
                environment_name: string | null;
                /** @description Targets with a last attempt that failed, was cancelled or was rolled back */
                failed: number;
                /** @description Targets with an attempt that runs or rolls back */
                running: number;
                /** @description Targets with a version in force or an attempt */
                target_count: number;
                tenant_id: string | null;
                tenant_name: string | null;
                /** @description The versions in force, the newest first */
                versions: {
                    /**
                     * Format: date-time
                     * @description When it was last applied to one of them
                     */
                    applied_at: string;
                    applied_by: string | null;
                    /**
                     * Format: uuid
                     * @description The deployment that did it
                     */
                    deployment_id: string;
                    target_count: number;
                    version: string;
                }[];
            }[];
            /** Format: uuid */
            source_id: string;
            source_name: string;
            source_type: components["schemas"]["SourceType"];
        };
        Message: {
            message: string;
        };
        NewInstanceGrant: {
            /** Format: date-time */
            created_at: string;
            created_by: string | null;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
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
            tenant_id: string | null;
            /** @description The join token for the instance. It is not shown again. */
            token: string;
            /** @description How many instances have joined with the grant */
            used: number;
            uses: number;
        };
        NewPassword: string;
        NoBody: Record<string, never>;
        PageMeta: {
            has_next: boolean;
            has_prev: boolean;
            limit: number;
            page: number;
            total: number;
            total_pages: number;
        };
        PendingRequest: {
            /**
             * @description Whether a user or a newer request cancelled it
             * @enum {string}
             */
            cancelled_because?: "user" | "superseded";
            created_at: string;
            /** Format: uuid */
            deployment_id?: string;
            dispatched_at?: string;
            /** Format: uuid */
            dispatched_to_instance_id?: string;
            /** Format: uuid */
            environment_id?: string;
            environment_name?: string;
            error_message?: string;
            estimated_start?: string;
            /** @description The targets that other deployments hold, at most 3, those held longest first; with `target_lock` */
            held_targets?: components["schemas"]["HeldTarget"][];
            /** Format: uuid */
            id: string;
            instance_pool?: components["schemas"]["InstancePool"];
            last_retry_at?: string;
            position?: number;
            priority: number;
            queued_at: string;
            retry_count: number;
            /** Format: uuid */
            source_id?: string;
            source_name?: string;
            source_type?: components["schemas"]["SourceType"];
            source_version?: string;
            /** @enum {string} */
            status: "pending" | "processing" | "dispatched" | "cancelled" | "failed";
            /**
             * Format: uuid
             * @description The newer request of the same source that replaced it, or its deployment if that one started at once
             */
            superseded_by?: string;
            /** @description How many targets the plan has. Like the source, absent in requests of earlier releases */
            target_count?: number;
            /** Format: uuid */
            tenant_id?: string;
            tenant_name?: string;
            triggered_by?: string;
            /** @enum {string} */
            waiting_for?: "capacity" | "freeze" | "instance_pool" | "no_compatible_instance" | "target_lock" | "tenant_limit";
            waiting_reason?: string;
        };
        PlanView: {
            /** Format: date-time */
            created_at: string;
            environment_name: string | null;
            resolved_variables: components["schemas"]["Variables"];
            steps: components["schemas"]["Step"][];
            target_count: number;
            tenant_name: string | null;
        };
        Preview: {
            plan: components["schemas"]["PlanView"];
            /** @description The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences lists the parts that differ. A preview and dry_run ignore it. */
            plan_hash: string;
            /** @description What is in force now on the targets of the plan */
            replaces: components["schemas"]["Replacement"][];
            source_name: string;
            source_type: components["schemas"]["SourceType"];
            source_version: string;
            target_summary: {
                offline: number;
                online: number;
                stale: number;
                total: number;
            };
            /** @description Targets with the same versions and values in force; only_changed leaves them out */
            unchanged_targets: {
                /** Format: uuid */
                id: string;
                name: string;
            }[];
            variables: components["schemas"]["Variables"];
            /** @description The warnings of a create, and whether it would be queued */
            warnings: string[];
        };
        RedeployDeployment: {
            bypass_cache?: boolean;
            /** @description Answers with the preview, and creates nothing */
            dry_run?: boolean;
            /** Format: id-environment */
            environment_id?: string;
            /** @description The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences lists the parts that differ. A preview and dry_run ignore it. */
            expected_plan_hash?: string;
            failure_strategy?: components["schemas"]["FailureStrategy"];
            max_retries?: number;
            /** @description Leaves out targets on which the same versions and values are in force and nothing was attempted since. The answer lists them as unchanged_target_ids, in config of a deployment. If no target is left, the answer is 409 CONFLICT with details.unchanged_target_ids. */
            only_changed?: boolean;
            /** @description Only targets with steps that are not completed: failed, skipped, cancelled or rolled back */
            only_failed_targets?: boolean;
            override_freeze?: boolean;
            override_reason?: string;
            priority?: number;
            prompted_values?: {
                [key: string]: unknown;
            };
            rollback_strategy?: components["schemas"]["RollbackStrategy"];
            /** @description Refuses the request if it would get one of these warnings: templates without a value, variables that nothing uses, offline targets. details.warnings lists them. Freezes, capacity and stale targets do not count. */
            strict?: boolean;
            target_ids?: string[];
            target_mode?: components["schemas"]["TargetMode"];
            target_tags?: components["schemas"]["Tag"][];
            timeout_seconds?: number;
            variables?: components["schemas"]["Variables"];
        };
        RedeployStarted: {
            action_id: string | null;
            action_name: string | null;
            action_version: string | null;
            analysis_enabled: boolean;
            cancel_reason: string | null;
            cancelled_at: string | null;
            cancelled_by: string | null;
            completed_at: string | null;
            completed_steps: number;
            config: components["schemas"]["DeploymentConfig"];
            /** Format: date-time */
            created_at: string;
            duration_ms: number | null;
            environment_id: string | null;
            environment_name: string | null;
            error_message: string | null;
            failed_steps: number;
            /** Format: uuid */
            id: string;
            plan: components["schemas"]["PlanView"] | null;
            progress: number;
            sequence_id: string | null;
            sequence_name: string | null;
            sequence_version: string | null;
            solution_id: string | null;
            solution_name: string | null;
            solution_version: string | null;
            /** Format: uuid */
            source_deployment_id?: string;
            source_type: components["schemas"]["SourceType"];
            started_at: string | null;
            /** @enum {string} */
            state: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "rolling_back" | "rolled_back";
            tenant_id: string | null;
            tenant_name: string | null;
            total_steps: number;
            triggered_by: string | null;
            /** @description Templates without a value, variables that nothing uses, offline and stale targets, active freezes */
            warnings: string[];
        };
        RefreshSseToken: {
            refresh_token: string;
            /** Format: uuid */
            session_id: string;
        };
        Release: {
            /** Format: date-time */
            begun_at: string;
            /** @description Null if nothing is in force on the target, or none of its actions declares a check */
            check: components["schemas"]["ReleaseCheck"] | null;
            /**
             * Format: uuid
             * @description Retention may have deleted the deployment
             */
            deployment_id: string;
            ended_at: string | null;
            /** @description Whether this version is in force on the target now */
            is_current: boolean;
            /** @description The deployment that was in force on the target when this one began */
            replaced_deployment_id: string | null;
            /** Format: uuid */
            source_id: string;
            source_name: string;
            source_type: components["schemas"]["SourceType"];
            /**
             * @description What became of a deployment on one target. It is applied when all its commands on the target have succeeded there, or, where failures are ignored, have been executed.. It has drifted if a check found the version in force changed.
             * @enum {string}
             */
            state: "running" | "applied" | "failed" | "cancelled" | "rolling_back" | "rolled_back" | "rollback_failed" | "drifted";
            triggered_by: string | null;
            values_hash: string | null;
            version: string;
        };
        ReleaseCheck: {
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
            applied_at: string | null;
            applied_by: string | null;
            /** @description The deployment in force there; null: nothing is */
            deployment_id: string | null;
            /** @description Null: nothing is in force there, or retention has deleted that deployment */
            difference: {
                /** @description Values that differ, without those of targets; sensitive ones are masked */
                variables: {
                    /** @description Absent: it has no value */
                    after?: unknown;
                    /** @description Absent: it had no value */
                    before?: unknown;
                    name: string;
                }[];
                /** @description The source and everything that it is made of, where the version differs */
                versions: {
                    /** @description Null: not part of this deployment */
                    after: string | null;
                    /** @description Null: not part of the deployment before */
                    before: string | null;
                    /** Format: uuid */
                    id: string;
                    kind: components["schemas"]["SourceType"];
                    name: string;
                }[];
            } | null;
            target_count: number;
            /** @description The first 100 of them */
            targets: {
                /** Format: uuid */
                id: string;
                name: string;
            }[];
            /** @description Those of them with the same versions and values */
            unchanged_count: number;
            version: string | null;
        };
        Replacements: {
            replaces: components["schemas"]["Replacement"][];
        };
        Role: {
            built_in: boolean;
            /** Format: date-time */
            created_at: string;
            description: string | null;
            /** Format: uuid */
            id: string;
            name: string;
            permissions: string[];
            /** Format: date-time */
            updated_at: string;
        };
        /** @enum {string} */
        RollbackStrategy: "none" | "failed_target_only" | "all_executed";
        SequenceDefinition: {
            actions: {
                /** Format: id-action */
                action_id: string;
                variables?: components["schemas"]["Variables"];
                /** Format: version-requirement */
                version_requirement?: string;
            }[];
            variables?: components["schemas"]["VariableDefinition"][];
        };
        Session: {
            client_ip: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            /** @description Whether this call is made in it */
            is_current: boolean;
            last_used_at: string | null;
            user_agent: string | null;
        };
        Sessions: {
            sessions: components["schemas"]["Session"][];
        };
        /** @description Executes nothing and answers as this connection says. Target, action and attempt decide which commands fail, so a repeated deployment has the same result. Rollback scripts succeed unless the connection is lost. */
        SimulatedConnection: {
            /** @description Share of the commands and rollback scripts during which the connection to the target is lost */
            drop_rate?: number;
            /** @description How long each command takes; 0 when omitted */
            duration_ms?: number;
            /** @description Exit code of every command or, with failure_rate, of the commands that fail (then 1 when omitted or 0) */
            exit_code?: number;
            /** @description Share of the commands that fail */
            failure_rate?: number;
            /** @description Lines that each command writes; 1 when omitted */
            output_lines?: number;
            /** @constant */
            type: "simulated";
        };
        SolutionDefinition: {
            sequences: {
                /** Format: id-sequence */
                sequence_id: string;
                variables?: components["schemas"]["Variables"];
                /** Format: version-requirement */
                version_requirement?: string;
            }[];
            variables?: components["schemas"]["VariableDefinition"][];
        };
        Source: {
            /** Format: date-time */
            created_at: string;
            description: string | null;
            /** Format: uuid */
            id: string;
            latest_version: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by: string | null;
            name: string;
            sqid: string;
            tenant_id: string | null;
            /** Format: date-time */
            updated_at: string;
            versions: components["schemas"]["SourceVersionListItem"][];
        };
        SourceListItem: {
            /** Format: date-time */
            created_at: string;
            description: string | null;
            /** Format: uuid */
            id: string;
            latest_version: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by: string | null;
            name: string;
            sqid: string;
            tenant_id: string | null;
            /** Format: date-time */
            updated_at: string;
        };
        /** @enum {string} */
        SourceType: "solution" | "sequence" | "action";
        SourceVersion: {
            /** Format: date-time */
            created_at: string;
            definition: unknown;
            version: string;
        };
        SourceVersionListItem: {
            /** Format: date-time */
            created_at: string;
            version: string;
        };
        SseTokenResponse: {
            expires_in: number;
            refresh_token: string;
            /** Format: uuid */
            session_id: string;
            sse_token: string;
        };
        SshConnection: {
            host: string;
            host_key?: string;
            port?: number;
            /** @constant */
            type: "ssh";
            username: string;
        };
        SshConnectionInput: {
            host: string;
            host_key?: string;
            password?: string;
            port?: number;
            private_key?: string;
            /** @constant */
            type: "ssh";
            username: string;
        };
        Step: {
            /** Format: uuid */
            action_id: string;
            action_name: string;
            action_order: number;
            completed_at: string | null;
            duration_ms: number | null;
            end_confirmed: boolean | null;
            error_message: string | null;
            exit_code: number | null;
            /** Format: uuid */
            id: string;
            retry_count: number;
            /** Format: uuid */
            sequence_id: string;
            sequence_name: string;
            sequence_order: number;
            started_at: string | null;
            /** @enum {string} */
            state: "pending" | "running" | "completed" | "failed" | "cancelled" | "skipped" | "rolling_back" | "rolled_back" | "rollback_failed";
            /** Format: uuid */
            target_id: string;
            target_name: string;
        };
        Tag: {
            key: string;
            value: string;
        };
        TagRecord: {
            key: string;
            target_count: number;
            value: string;
        };
        Target: {
            /** @description What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY */
            concurrency: ("allow" | "queue" | "reject" | "supersede") | null;
            connection: components["schemas"]["Connection"];
            /** Format: date-time */
            created_at: string;
            description: string | null;
            enabled: boolean;
            environment_id: string | null;
            /** Format: uuid */
            id: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector: null | components["schemas"]["InstanceSelector"];
            /**
             * @description Why the last attempt to reach the target failed, or why it is not online; null if it was reached
             * @example connection refused by web-1.example.com:22
             */
            last_error: string | null;
            last_seen_at: string | null;
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by: string | null;
            name: string;
            /** @description Names of the variables with values that are never shown */
            sensitive_variables: string[];
            sqid: string;
            /** @enum {string} */
            status: "online" | "stale" | "offline";
            tags: components["schemas"]["Tag"][];
            tenant_id: string | null;
            /**
             * @description When the first attempt failed since the last contact; without an attempt, the last contact. Null if the target was reached, or never tried
             * @example 2026-11-23T10:00:00.000Z
             */
            unreachable_since: string | null;
            /** Format: date-time */
            updated_at: string;
            /** @description Values by name; `***` for those of sensitive_variables */
            variables: {
                [key: string]: unknown;
            };
        };
        TargetAgent: {
            /** Format: uuid */
            agent_id: string;
            /** Format: date-time */
            enrolled_at: string;
            host: string;
            last_seen_at: string | null;
            port: number;
            version: string;
        };
        TargetMode: ("sequential" | "parallel") | {
            rolling: {
                batch_size: number;
            };
        };
        Tenant: {
            /** Format: date-time */
            created_at: string;
            description: string | null;
            /** Format: uuid */
            id: string;
            /** @description The labels that an instance needs to run deployments here; null: any instance */
            instance_selector: null | components["schemas"]["InstanceSelector"];
            /**
             * @description The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it gives and takes no permission.
             * @example shop/catalog
             */
            managed_by: string | null;
            name: string;
            /** @description Names of the variables with values that are never shown */
            sensitive_variables: string[];
            slug: string;
            sqid: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Values by name; `***` for those of sensitive_variables */
            variables: {
                [key: string]: unknown;
            };
        };
        TwoFactorCode: {
            /** @description Six digits of the authenticator, or an unused recovery code */
            code: string;
        };
        TwoFactorEnabled: {
            message: string;
            recovery_codes: string[];
        };
        TwoFactorRequired: {
            pending_token: string;
            /** @constant */
            requires_2fa: true;
        };
        TwoFactorSetup: {
            otpauth_url: string;
            secret: string;
        };
        UpdatePending: {
            priority: number;
        };
        User: {
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            email: string;
            /** Format: uuid */
            id: string;
            permissions: string[];
            roles: string[];
            status: string;
            username: string;
        };
        UserRecord: {
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            email: string;
            email_verified: boolean;
            /** Format: uuid */
            id: string;
            permissions: string[];
            roles: string[];
            status: string;
            tenant_id: string | null;
            username: string;
        };
        VariableDefinition: {
            default?: unknown;
            description?: string;
            /** Format: uuid */
            id?: string;
            name: string;
            prompted?: boolean;
            required?: boolean;
            sensitive?: boolean;
            /** @enum {string} */
            type?: "string" | "number" | "boolean" | "json";
        };
        Variables: {
            [key: string]: unknown;
        };
        VerifyTwoFactor: {
            /** @description Six digits of the authenticator, or an unused recovery code */
            code: string;
            pending_token: string;
        };
        Webhook: {
            /** Format: date-time */
            created_at: string;
            /** @description Why Slipway disabled the webhook */
            disabled_reason: string | null;
            enabled: boolean;
            events: ("deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted")[];
            /** Format: uuid */
            id: string;
            tenant_id: string | null;
            /** Format: date-time */
            updated_at: string;
            url: string;
        };
        WebhookDelivery: {
            attempts: number;
            /** Format: date-time */
            created_at: string;
            delivered_at: string | null;
            /** @description Why the last attempt failed */
            error: string | null;
            /** @enum {string} */
            event: "deployment.queued" | "deployment.started" | "deployment.updated" | "deployment.finished" | "release.drifted" | "release.restored" | "pending.updated" | "pending.dispatched" | "pending.cancelled" | "pending.failed" | "target.created" | "target.updated" | "target.deleted" | "freeze.created" | "freeze.updated" | "freeze.deleted" | "instance.created" | "instance.updated" | "instance.deleted";
            /** Format: uuid */
            id: string;
            last_attempt_at: string | null;
            /** @description Null if there will be none */
            next_attempt_at: string | null;
            /** @description The first 1,024 characters of the body */
            payload: string;
            /** @description The first 1,024 characters of the last answer */
            response_body: string | null;
            response_status: number | null;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            /** Format: uuid */
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["SourceListItem"][];
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
                    "application/json": components["schemas"]["Source"];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["SourceVersionListItem"][];
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
                    "application/json": components["schemas"]["SourceVersion"];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["Instance"][];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["Role"][];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["UserRecord"][];
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
                action?: "action.create" | "action.delete" | "action.publish" | "action.update" | "api_key.create" | "api_key.delete" | "auth.change_password" | "auth.disable_2fa" | "auth.enable_2fa" | "auth.login" | "auth.logout" | "auth.refresh" | "auth.setup_2fa" | "auth.verify_2fa" | "content.create" | "deployment.cancel" | "deployment.create" | "deployment.redeploy" | "environment.create" | "environment.delete" | "environment.update" | "freeze.create" | "freeze.delete" | "freeze.update" | "instance.delete" | "instance.join" | "instance.update" | "instance_grant.create" | "instance_grant.delete" | "pending_request.cancel" | "pending_request.supersede" | "pending_request.update" | "release.check" | "role.create" | "role.delete" | "role.update" | "sequence.create" | "sequence.delete" | "sequence.publish" | "sequence.update" | "session.delete" | "solution.create" | "solution.delete" | "solution.publish" | "solution.update" | "target.create" | "target.create_agent_token" | "target.delete" | "target.revoke_agent" | "target.update" | "tenant.create" | "tenant.delete" | "tenant.update" | "user.create" | "user.delete" | "user.update" | "webhook.create" | "webhook.delete" | "webhook.redeliver" | "webhook.update";
                actor_id?: string;
                /** @description From this moment on */
                from?: string;
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                resource_id?: string;
                resource_type?: "action" | "api_key" | "content" | "deployment" | "environment" | "freeze" | "instance" | "instance_grant" | "pending_request" | "release" | "role" | "sequence" | "session" | "solution" | "target" | "tenant" | "user" | "webhook";
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
                        data: components["schemas"]["AuditRecord"][];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["Freeze"][];
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
                action_id?: string;
                /** @description Created before this time */
                created_before?: string;
                /** @description Created at this time or later */
                created_from?: string;
                environment_id?: string;
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
                search?: string;
                sequence_id?: string;
                solution_id?: string;
                source_type?: components["schemas"]["SourceType"];
                state?: "pending" | "queued" | "running" | "success" | "failed" | "cancelled" | "rolling_back" | "rolled_back";
                target_id?: string;
                tenant_id?: string;
                /** @description The user name */
                triggered_by?: string;
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
                        data: components["schemas"]["DeploymentSummary"][];
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
                    "application/json": components["schemas"]["Preview"];
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
                /** @description Number of the first line, instead of `offset`; X-Log-Next of the page before */
                from?: string;
                /** @description Only lines of this level */
                level?: "info" | "warning" | "error";
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Lines to skip, whether they match or not; 0 when omitted */
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
                    "application/json": components["schemas"]["Preview"];
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
                status?: "pending" | "processing" | "dispatched" | "cancelled" | "failed";
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
                    "application/json": components["schemas"]["PendingRequest"][];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["Environment"][];
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
                        dependencies: {
                            [key: string]: string;
                        };
                        status: string;
                    };
                };
            };
        };
    };
    listInstanceGrants: {
        parameters: {
            query?: {
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
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
                        data: components["schemas"]["InstanceGrant"][];
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
    listReleases: {
        parameters: {
            query?: {
                action_id?: string;
                environment_id?: string;
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
                search?: string;
                sequence_id?: string;
                solution_id?: string;
                source_type?: components["schemas"]["SourceType"];
                state?: "running" | "applied" | "failed" | "cancelled" | "rolling_back" | "rolled_back" | "rollback_failed" | "drifted";
                /** @description `KEY=VALUE`, or `KEY` alone for every value */
                tag?: string;
                target_id?: string;
                tenant_id?: string;
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
                        data: components["schemas"]["Installed"][];
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
                environment_id?: string;
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
                search?: string;
                source_type?: components["schemas"]["SourceType"];
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
                        data: components["schemas"]["MatrixRow"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    listSequences: {
        parameters: {
            query?: {
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["SourceListItem"][];
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
                    "application/json": components["schemas"]["Source"];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["SourceVersionListItem"][];
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
                    "application/json": components["schemas"]["SourceVersion"];
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
                        api_version: string;
                        /** Format: uuid */
                        instance_id: string;
                        name: string;
                        /** Format: date-time */
                        server_time: string;
                        server_version: string;
                    };
                };
            };
        };
    };
    listSolutions: {
        parameters: {
            query?: {
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["SourceListItem"][];
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
                    "application/json": components["schemas"]["Source"];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["SourceVersionListItem"][];
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
                    "application/json": components["schemas"]["SourceVersion"];
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
                /** @description One of `deployments`, `pending`, `targets`, `instances`, `freezes` */
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["TagRecord"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    listTargets: {
        parameters: {
            query?: {
                enabled?: "true" | "false";
                environment_id?: string;
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
                search?: string;
                status?: "online" | "stale" | "offline";
                /** @description `KEY=VALUE`, or `KEY` alone for every value */
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
                        data: components["schemas"]["Target"][];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
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
                        data: components["schemas"]["DeploymentOfTarget"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    listTargetReleases: {
        parameters: {
            query?: {
                action_id?: string;
                current?: "true" | "false";
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
                search?: string;
                sequence_id?: string;
                solution_id?: string;
                state?: "running" | "applied" | "failed" | "cancelled" | "rolling_back" | "rolled_back" | "rollback_failed" | "drifted";
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
                        data: components["schemas"]["Release"][];
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
        };
    };
    listTenants: {
        parameters: {
            query?: {
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description Only records of this file set of `slipway apply` */
                managed_by?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["Tenant"][];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
                /** @description Part of the name, in upper or lower case */
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
                        data: components["schemas"]["Webhook"][];
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
                /** @description Entries to return; a value out of range becomes the nearest valid value */
                limit?: string;
                /** @description From 1; a smaller number counts as 1 */
                page?: string;
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
                        data: components["schemas"]["WebhookDelivery"][];
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
