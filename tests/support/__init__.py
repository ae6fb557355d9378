"""What several tests share: fakes of the ports, and builders of folders."""
