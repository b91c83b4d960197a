# Workers, whose jobs run on the node beside them. With `count` 0 and weft's provider `nomad` weft asks for them itself
# (docs/guides/nomad.md).
variable "datacenters" {
  type    = list(string)
  default = ["*"]
}

variable "driver" {
  type        = string
  default     = "raw_exec"
  description = "raw_exec, or exec where /opt/weft and the home are in its chroot_env"
}

variable "user" {
  type        = string
  default     = "weft"
  description = "As whom it runs on the node; the home is this user's"
}

variable "weft" {
  type        = string
  default     = "/opt/weft"
  description = "On each node: bin/weft, and prepare.py, wait.py and health.py in share/"
}

variable "database" {
  type        = string
  default     = "postgres.service.consul:5432/weft"
  description = "HOST[:PORT]/NAME of the database, and its options"
}

variable "home" {
  type        = string
  default     = "/var/lib/weft"
  description = "On each node, of all roles there; its logs/ is storage that apis and workers share"
}

variable "count" {
  type    = number
  default = 2
}

variable "distinct_hosts" {
  type        = bool
  default     = true
  description = "false lets all of them run on one node"
}

variable "cpu" {
  type        = number
  default     = 4000
  description = "MHz of a node that a worker and its jobs have"
}

variable "cores" {
  type        = number
  default     = 2
  description = "That a worker offers its jobs"
}

variable "memory" {
  type        = number
  default     = 4096
  description = "MiB; a worker offers its jobs all but 512"
}

job "weft-worker" {
  datacenters = var.datacenters

  update {
    max_parallel      = 1
    min_healthy_time  = "10s"
    healthy_deadline  = "5m"
    progress_deadline = "10m"
  }

  group "worker" {
    count = var.count

    constraint {
      operator = "distinct_hosts"
      value    = var.distinct_hosts
    }

    # The home with the keys of this weft; then it waits until the database has the schema of this release.
    task "wait" {
      driver = var.driver
      user   = var.user
      lifecycle {
        hook = "prestart"
      }
      config {
        command = "${var.weft}/bin/python"
        args    = ["${var.weft}/share/wait.py", "worker", "${NOMAD_SECRETS_DIR}"]
      }
      env {
        WEFT_HOME = var.home
      }
      template {
        destination = "secrets/env"
        env         = true
        data        = <<END
{{ with nomadVar "nomad/jobs/weft-worker" }}WEFT_DATABASE=postgresql://weft_worker:{{ .WORKER_PASSWORD }}@${var.database}{{ end }}
END
      }
      template {
        destination = "secrets/secret-keys.json"
        data        = "{{ with nomadVar \"nomad/jobs/weft-worker\" }}{\"keys\": [\"{{ .SECRETS_KEY }}\"]}{{ end }}"
      }
      resources {
        cpu    = 50
        memory = 256
      }
    }

    task "worker" {
      driver       = var.driver
      user         = var.user
      kill_timeout = "60s"
      config {
        command = "${var.weft}/bin/weft"
        args    = ["worker", "--worker-cpu", "${var.cores}", "--worker-memory", "${var.memory - 512}Mi"]
      }
      env {
        WEFT_HOME        = var.home
        WEFT_LOG_FORMAT  = "json"
        WEFT_ROLE_NAME   = "worker-${NOMAD_ALLOC_INDEX}"
        WEFT_WORKER_NAME = "nomad-${NOMAD_ALLOC_INDEX}"
      }
      template {
        destination = "secrets/env"
        env         = true
        data        = <<END
{{ with nomadVar "nomad/jobs/weft-worker" }}WEFT_DATABASE=postgresql://weft_worker:{{ .WORKER_PASSWORD }}@${var.database}{{ end }}
END
      }
      resources {
        cpu    = var.cpu
        memory = var.memory
      }
    }
  }
}
